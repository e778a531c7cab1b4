// The playground for scripts: window.labkitPlayground.
import { curveOf } from "./losses.js";
import { write } from "./state.js";

/** What tests and those who embed the page can use. */
export function remote(playground) {
  return {
    play: () => playground.play(),
    pause: () => playground.pause(),
    restart: () => playground.restart(false),
    advance: (count = 1) => playground.advance(count),
    get step() {
      return playground.report.step;
    },
    get playing() {
      return playground.report.playing;
    },
    get stepsPerSecond() {
      return playground.report.rate;
    },
    get testRecall() {
      return playground.recall[1];
    },
    get trainRecall() {
      return playground.recall[0];
    },
    get state() {
      return write(playground.state);
    },
    derivative: (R) => curveOf(playground.state)?.derivative(R),
  };
}

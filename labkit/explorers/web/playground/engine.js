// Trains one or several networks in slices of time and reports how far they are: in a worker, or, where the host allows
// none, in the page itself. Messages in: setup, play, pause, advance, speed, seen. Messages out: one report at a time;
// the next comes when the page has drawn the last.
import { Trainer } from "./trainer.js";

const EVALUATE = 20; // steps between two measurements of R@1
const REPORT = 15; // milliseconds between two reports, at least
const FULL = 0; // speed without a limit

export class Engine {
  trainers = [];
  playing = false;
  waiting = false; // for the page to draw
  speed = FULL; // steps a second
  rate = 0; // steps a second, measured
  run = 0; // the number of the set-up, so that late reports are told from new ones

  /** post takes a report; later calls a function soon; slice: milliseconds of work before others have their turn. */
  constructor(post, later, slice) {
    Object.assign(this, { post, later, slice });
  }

  take(message) {
    if (message.kind === "setup") this.setUp(message);
    if (message.kind === "play") this.play();
    if (message.kind === "pause") this.playing = false;
    if (message.kind === "speed") this.speed = message.speed;
    if (message.kind === "advance") this.advance(message.count);
    if (message.kind === "seen") this.waiting = false;
    if (message.kind !== "seen") this.report(true);
    else if (this.owed) this.report(true);
  }

  setUp({ run, networks, choice, steps, speed, playing }) {
    this.trainers = networks.map(({ data, seed }) => new Trainer({ data, choice, steps, seed }));
    Object.assign(this, { run, speed, measured: [], rate: 0 });
    this.measure();
    this.playing = false;
    if (playing) this.play();
  }

  get step() {
    return this.trainers[0]?.step ?? 0;
  }

  get finished() {
    return !this.trainers.length || this.trainers[0].finished;
  }

  play() {
    if (this.playing || this.finished) return;
    this.playing = true;
    this.began = { time: performance.now(), step: this.step };
    this.window = { ...this.began };
    this.loop(++this.loops);
  }

  loops = 0;

  loop(own) {
    if (!this.playing || own !== this.loops) return;
    const from = performance.now();
    do {
      const allowed = this.speed === FULL ? Infinity : ((performance.now() - this.began.time) * this.speed) / 1000;
      if (this.step - this.began.step >= allowed) break;
      this.one();
    } while (!this.finished && performance.now() - from < this.slice);
    this.clock();
    if (this.finished) this.playing = false;
    this.report(this.finished);
    if (this.playing) this.later(() => this.loop(own));
  }

  /** Steps a second over the last half second. */
  clock() {
    const now = performance.now(), { time, step } = this.window;
    if (now - time < 500 && !(this.finished && now > time)) return;
    this.rate = (1000 * (this.step - step)) / (now - time);
    this.window = { time: now, step: this.step };
  }

  one() {
    for (const trainer of this.trainers) trainer.advance();
    if (this.step % EVALUATE === 0 || this.finished) this.measure();
  }

  advance(count) {
    this.playing = false;
    for (let k = 0; k < count && !this.finished; k++) this.one();
    if (this.measured.at(-1)?.[0] !== this.step) this.measure();
  }

  measure() {
    this.measured.push([this.step, this.trainers.map((trainer) => trainer.recall())]);
  }

  report(must) {
    const now = performance.now();
    this.owed = this.waiting && must;
    if (this.waiting || (!must && now - this.told < REPORT)) return;
    this.told = now;
    this.waiting = true;
    const { run, step, rate, playing, finished, measured } = this;
    const networks = this.trainers.map(({ parameters, proxies }) => ({
      parameters: parameters.slice(),
      proxies: proxies ? proxies.values.slice() : null,
    }));
    this.measured = [];
    this.post({ run, step, rate, playing, finished, measured, networks });
  }
}

/** An engine in a worker if the host lets us have one, else in this page; returns send and stop. */
export function startEngine(source, heard) {
  try {
    const address = URL.createObjectURL(new Blob([source], { type: "text/javascript" }));
    const worker = new Worker(address);
    let local = null;
    const fallBack = () => (local ??= inPage(heard)); // a host may refuse it late
    worker.onerror = (event) => {
      event.preventDefault();
      const engine = fallBack();
      for (const message of sent) engine.take(message);
    };
    const sent = [];
    worker.onmessage = ({ data }) => {
      sent.length = 0;
      heard(data);
    };
    const send = (message) => {
      if (local) return local.take(message);
      if (sent.length < 50) sent.push(message);
      worker.postMessage(message);
    };
    const stop = () => {
      if (local) local.take({ kind: "pause" });
      worker.terminate();
      URL.revokeObjectURL(address);
    };
    return { send, stop };
  } catch {
    const engine = inPage(heard);
    return { send: (message) => engine.take(message), stop: () => engine.take({ kind: "pause" }) };
  }
}

function inPage(heard) {
  return new Engine((report) => setTimeout(() => heard(report)), (act) => setTimeout(act), 7);
}

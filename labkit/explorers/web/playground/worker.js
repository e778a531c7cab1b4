// The engine in a worker of its own; a channel calls back sooner than a timer would.
import { Engine } from "./engine.js";

const channel = new MessageChannel(), waiting = [];
channel.port1.onmessage = () => waiting.shift()?.();
const later = (act) => {
  waiting.push(act);
  channel.port2.postMessage(null);
};
const pace = (act) => (engine.speed ? setTimeout(act, 4) : later(act)); // below full speed there is time to rest
const engine = new Engine((report) => postMessage(report), pace, 12);
onmessage = ({ data }) => engine.take(data);

// A question that is answered before the answer is seen: a choice, a number, or a curve drawn by hand.
// Until a guess is committed, the outputs that follow on the page stay covered (cover.js).
import { paintRoot } from "../shared/colors.js";
import { make } from "../shared/elements.js";
import { BUS, watchPage } from "../shared/page.js";
import { curveForm } from "./curve.js";
import { coverFollowing } from "./cover.js";

const open = (secret) => JSON.parse(new TextDecoder().decode(Uint8Array.from(atob(secret), (c) => c.charCodeAt(0))));

/** What was committed on this page before; a page from a file may have no memory. */
function memory(name) {
  const key = `labkit-guess:${location.pathname}:${name}`;
  const attempt = (act) => {
    try {
      return act();
    } catch {
      return null;
    }
  };
  return {
    read: () => JSON.parse(attempt(() => localStorage.getItem(key)) ?? "null"),
    write: (guess) => attempt(() => localStorage.setItem(key, JSON.stringify(guess))),
    forget: () => attempt(() => localStorage.removeItem(key)),
  };
}

function choiceForm({ name, choices }, ready) {
  const box = make("fieldset", "choices");
  const group = `${name}-${Math.random()}`;
  const inputs = choices.map((choice) => {
    const label = box.appendChild(make("label"));
    const input = label.appendChild(make("input", "", "", { type: "radio", name: group, value: choice }));
    label.append(` ${choice}`);
    input.addEventListener("change", () => ready(true));
    return input;
  });
  return {
    box,
    guess: () => inputs.find((input) => input.checked)?.value,
    settle: (guess, { answer }) => {
      for (const input of inputs) {
        input.checked = input.value === guess;
        input.disabled = true;
        if (input.value === answer) input.parentElement.classList.add("truth");
      }
      return [guess === answer, answer];
    },
  };
}

function numberForm({ unit, question, low, high }, ready) {
  const box = make("label", "number");
  const input = box.appendChild(make("input", "", "", { type: "number", step: "any", min: low, max: high }));
  input.setAttribute("aria-label", question);
  box.append(` ${unit}`);
  const valid = () => input.value !== "" && Number(input.value) >= low && Number(input.value) <= high;
  input.addEventListener("input", () => ready(valid()));
  return {
    box,
    guess: () => Number(input.value),
    settle: (guess, { answer, close }) => {
      [input.value, input.disabled] = [guess ?? "", true];
      return [guess !== null && Math.abs(guess - answer) <= close, `${answer} ${unit}`.trim()];
    },
  };
}

const FORMS = { choice: choiceForm, number: numberForm, curve: curveForm };

export function render({ model, el }) {
  const spec = model.get("spec"), kept = memory(spec.name), stop = new AbortController();
  el.className = "labkit-predict";
  el.dataset.prediction = spec.name;
  let colors = paintRoot(el);
  const asked = el.appendChild(make("p", "asked"));
  asked.append(make("b", "", "Predict. "), spec.question);
  const commit = make("button", "", "Commit my guess", { type: "button", disabled: "" });
  const form = FORMS[spec.kind](spec, (ready) => (commit.disabled = !ready));
  const reveal = make("button", "plain", "Show the answers on this page", { type: "button" });
  const again = make("button", "plain", "Ask me again", { type: "button", hidden: "" });
  const row = make("p", "row");
  row.append(commit, reveal, again);
  const said = make("p", "said", "", { role: "status" });
  el.append(form.box, row, said);
  let uncover = () => {};

  function settle(guess) {
    const secret = open(spec.secret), [right, truth] = form.settle(guess, secret);
    said.replaceChildren();
    const word = guess === null ? "" : right ? "✓ As you said: " : "✗ Not as you said: ";
    said.append(make("b", "", `${word}${truth}`), ` ${secret.why}`);
    commit.hidden = reveal.hidden = true;
    again.hidden = false;
    uncover();
  }
  const revealed = () => again.hidden && settle(null);
  commit.addEventListener("click", () => {
    const guess = form.guess();
    kept.write(guess);
    settle(guess);
  });
  reveal.addEventListener("click", () => BUS.dispatchEvent(new Event("reveal")));
  again.addEventListener("click", () => {
    kept.forget();
    stop.abort();
    el.replaceChildren();
    render({ model, el });
  });
  BUS.addEventListener("reveal", revealed, { signal: stop.signal });
  watchPage(el, { resized: () => form.draw?.(), recolored: () => (colors = paintRoot(el, colors)), signal: stop.signal });
  const before = kept.read();
  if (before === null) uncover = coverFollowing(el);
  else settle(before);
}

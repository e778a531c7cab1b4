// A derivative as the reader types it: numbers, R, + − * / **, parentheses and a few functions. The text is parsed by
// hand into functions of R; nothing of it is ever run as a program. The grammar is that of labkit/explorers/formula.py.

const LONGEST = 200; // characters
const LARGEST = 48; // R up to which a formula must be finite: a batch of the toy has 48 negatives
const DEEPEST = 60; // brackets in brackets
const ONE = { exp: Math.exp, log: Math.log, sqrt: Math.sqrt, tanh: Math.tanh };
const SEVERAL = { min: Math.min, max: Math.max };
const ALLOWED = "numbers, R, + - * / **, parentheses, exp, log, sqrt, tanh, min, max";
const TOKEN = /\s*(?:((?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?)|([A-Za-z_]\w*)|(\*\*|[-+*/(),])|(\S))/y;

const isOwn = (table, name) => Object.hasOwn(table, name);
const notAllowed = (what, more = "") => new Error(`“${what.slice(0, 40)}” is not allowed here. Use ${ALLOWED}.${more}`);

function tokens(text) {
  const found = [];
  TOKEN.lastIndex = 0;
  for (let match; TOKEN.lastIndex < text.length && (match = TOKEN.exec(text)); ) {
    if (match[4]) throw notAllowed(match[4], match[4] === "^" ? " Powers are written **." : "");
    found.push({ text: match[0].trim(), number: match[1], name: match[2] });
  }
  return found;
}

/** The function of R that the text says; an Error names what is wrong. */
export function parseFormula(text) {
  const { length } = text;
  if (length > LONGEST) throw new Error(`The formula has ${length} characters; at most ${LONGEST} are allowed.`);
  const list = tokens(text.trim());
  if (!list.length) throw new Error("There is no formula yet. Try 1/(1+R).");
  const broken = () => new Error(`“${text.trim()}” is not a formula. Is a bracket open, or a * missing, as in 2*R?`);
  let at = 0, depth = 0;
  const next = () => list[at]?.text, take = (what) => next() === what && ++at > 0;
  const must = (what) => {
    if (!take(what)) throw broken();
  };
  /** Sums of products of signed powers, as in Python: −R**2 is −(R**2), R**−1 is allowed. */
  const chain = (inner, operations) => {
    let left = inner();
    while (isOwn(operations, next() ?? "")) {
      const operation = operations[list[at++].text], a = left, b = inner();
      left = (R) => operation(a(R), b(R));
    }
    return left;
  };
  const sum = () => chain(product, { "+": (a, b) => a + b, "-": (a, b) => a - b });
  const product = () => chain(signed, { "*": (a, b) => a * b, "/": (a, b) => a / b });
  const signed = () => {
    if (++depth > DEEPEST) throw broken();
    const negative = take("-"), sign = negative || take("+"), inner = sign ? signed() : power();
    depth--;
    return negative ? (R) => -inner(R) : inner;
  };
  const power = () => {
    const base = atom();
    if (!take("**")) return base;
    const exponent = signed();
    return (R) => base(R) ** exponent(R);
  };
  const atom = () => {
    const token = list[at++];
    if (!token) throw broken();
    if (token.number) return () => Number(token.number);
    if (token.text === "(") {
      const inner = sum();
      must(")");
      return inner;
    }
    if (!token.name) throw broken();
    return next() === "(" ? call(token.name) : variable(token.name);
  };
  const variable = (name) => {
    if (name !== "R") throw notAllowed(name);
    return (R) => R;
  };
  const call = (name) => {
    if (!isOwn(ONE, name) && !isOwn(SEVERAL, name)) throw notAllowed(name);
    must("(");
    const given = [sum()];
    while (take(",")) given.push(sum());
    must(")");
    if (isOwn(ONE, name) ? given.length !== 1 : given.length < 2)
      throw new Error(`${name} takes ${isOwn(ONE, name) ? "one value" : "two values or more"}.`);
    return isOwn(ONE, name) ? (R) => ONE[name](given[0](R)) : (R) => SEVERAL[name](...given.map((one) => one(R)));
  };
  const g = sum();
  if (at < list.length) throw broken();
  for (let R = 0; R <= LARGEST; R += 0.05) {
    const finite = Number.isFinite(Math.fround(g(R)));
    if (!finite) throw new Error(`The derivative is not a finite number at R = ${+R.toFixed(2)}.`);
  }
  return g;
}

/*
 * What `npm run localnet` shows, as lines that fit the terminal: pure, so that tests can look at any size.
 */

/** Terminals are taken for this large when they do not say. */
export const USUAL_SIZE = { columns: 100, rows: 30 };

const KEY_OF_FIRST_ACCOUNT = "0xac0974bec39a17e36ba4a6b4d238ff944bacb478cbed5efcae784d7bf4f2ff80";
const FIRST_ACCOUNT = "0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266";
const MNEMONIC = "test test test test test test test test test test test junk";

/** Columns of the table, those that are left out first at the end; `state` takes what is left. */
const COLUMNS = [
  { title: "#", width: 2, of: ({ number }) => String(number) },
  { title: "height", width: 7, isRight: true, of: ({ height }) => textOf(height) },
  { title: "role", width: 9, of: ({ role }) => role },
  { title: "peers", width: 5, isRight: true, of: ({ peers }) => textOf(peers) },
  { title: "JSON-RPC", width: 22, of: ({ url }) => url },
  { title: "round", width: 5, isRight: true, of: ({ round }) => textOf(round) },
  { title: "head", width: 10, of: ({ hash }) => (hash ?? "").slice(0, 10) },
];
/** Narrower states would say nothing. */
const STATE_WIDTH = 14;

/**
 * The screen: what is decided, a row for each node, the last answer to a command, and the command that is being typed. Rows of
 * nodes that do not fit are counted.
 */
export function screenLines({ folder, summary, nodes, answer, typed }, { columns, rows }) {
  const shown = columnsWithin(columns);
  const head = rows > 12 ? [`Ibex localnet in ${folder}`, summary, ""] : [summary];
  const foot = [
    ...(rows > 12 ? [""] : []),
    answer === "" ? "stop N, start N, keys, quit; then Enter" : answer,
    `> ${typed}`,
  ];
  const room = Math.max(1, rows - head.length - foot.length - 2);
  const fitting = nodes.length > room ? nodes.slice(0, Math.max(0, room - 1)) : nodes;
  const rest = nodes.length - fitting.length;
  return [
    ...head,
    rowOf(shown, ({ title }) => title, "state"),
    ...fitting.map((node) => rowOf(shown, ({ of }) => of(node), node.state)),
    ...(rest > 0 ? [`… and ${rest} more`] : []),
    ...foot,
  ].map((line) => cut(line, columns));
}

/** The page of keys and URLs; longer than a small terminal, so it is printed and not drawn. */
export function keyLines({ folder, chainId, members }) {
  return [
    `Chain id ${chainId}. JSON-RPC over HTTP, and the files of each node:`,
    ...members.map(({ number, url, address, dataPath }) =>
      [
        `  node ${number}  ${url}  ${dataPath}`,
        ...(address === undefined ? [] : [`validator ${address}`]),
      ].join("  "),
    ),
    "The key of a validator is the file key in its folder.",
    "",
    `Ten accounts with 10,000 ether each, of the mnemonic "${MNEMONIC}".`,
    `The first one is ${FIRST_ACCOUNT}, with the key`,
    `  ${KEY_OF_FIRST_ACCOUNT}`,
    "These keys are public: use them here alone.",
    `Logs: ${folder}/node1/node.log and so on.`,
  ];
}

/** What a typed line asks for; a number alone stops a node that runs and starts one that does not. */
export function readCommand(line) {
  const [, word, digits = ""] = /^\s*([a-z]*)\s*(\d*)\s*$/i.exec(line) ?? [];
  if (word === undefined) return unknown(line);
  const number = Number(digits);
  switch (word.toLowerCase()) {
    case "":
      return digits === "" ? { kind: "nothing" } : { kind: "toggle", number };
    case "stop":
    case "start":
      return digits === "" ? unknown(line) : { kind: word.toLowerCase(), number };
    case "keys":
    case "quit":
      return digits === "" ? { kind: word.toLowerCase() } : unknown(line);
    default:
      return unknown(line);
  }
}

function unknown(line) {
  return { kind: "unknown", line: line.trim() };
}

/** Why a node has ended, from its log: the last error, else the last line. */
export function reasonOf(log) {
  const lines = log.split("\n").filter((line) => line.trim() !== "");
  const messages = lines.map(readLine);
  const last = messages.findLast(({ level }) => level === "ERROR" || level === "FATAL") ?? messages.at(-1);
  return last === undefined ? "" : last.message;
}

function readLine(line) {
  try {
    const { level, message } = JSON.parse(line);
    return { level, message: String(message) };
  } catch {
    return { level: undefined, message: line };
  }
}

function columnsWithin(width) {
  let count = COLUMNS.length;
  while (count > 2 && widthOf(COLUMNS.slice(0, count)) + STATE_WIDTH > width) count--;
  return COLUMNS.slice(0, count);
}

function widthOf(columns) {
  return columns.reduce((sum, { width }) => sum + width + 1, 0);
}

function rowOf(columns, cellOf, state) {
  const cells = columns.map((column) => {
    const text = cut(cellOf(column), column.width);
    return column.isRight ? text.padStart(column.width) : text.padEnd(column.width);
  });
  return [...cells, state].join(" ");
}

function textOf(value) {
  return value === undefined ? "" : String(value);
}

function cut(text, width) {
  return text.length <= width ? text : `${text.slice(0, Math.max(0, width - 1))}…`;
}

/**
 * `npm run localnet -- [--validators=4] [--followers=1] [--folder=PATH] [--first-port=28545] [--compilers=PATH]`: a network of
 * nodes on loopback, with a status screen. Typed lines stop and start single nodes; Ctrl-C stops all of it. The folder is kept: the
 * same command continues the same chain. Node n answers JSON-RPC on first-port + n - 1, and listens for peers on that port
 * + 1,000. The first follower also answers WebSocket on its port + 2,000, and shows the explorer on its port + 3,000, which
 * verifies contracts with the compilers (soljson-v….js) of the folder that is named.
 */
import { spawn, spawnSync } from "node:child_process";
import {
  createWriteStream,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { dirname, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { keyLines, readCommand, reasonOf, screenLines, USUAL_SIZE } from "./localnet/screen.mjs";

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const program = join(root, "dist", "main.js");
const asked = readArguments({
  validators: 4,
  followers: 1,
  "first-port": 28545,
  folder: "ibex-localnet",
  compilers: "",
});
const folder = resolve(asked.folder);
const PEER_PORT_DISTANCE = 1000;
const WEB_SOCKET_DISTANCE = 2000;
const EXPLORER_DISTANCE = 3000;
const REFRESH_MS = 1000;
/** Window of the shown rate: long enough to be steady, short enough to be current. */
const RATE_WINDOW_BLOCKS = 10;
const LONGEST_COMMAND = 40;

const CHAIN_ID = 1337;
/** What of a log is read for the reason of an end. */
const LOG_TAIL_BYTES = 16_384;

const isScreen = Boolean(process.stdout.isTTY);
const members = prepare();
console.log(keyLines({ folder, chainId: CHAIN_ID, members }).join("\n"));
for (const { number, port } of members)
  if (number === asked.validators + 1) console.log(`explorer: http://127.0.0.1:${port + EXPLORER_DISTANCE}`);
for (const member of members) startNode(member);
let isStopping = false;
let answer = "";
let typed = "";
let rows = [];
let rate;
/** What covers the screen: the keys, at the start until a validator answers, later until Enter. */
let page = isScreen ? "start" : undefined;
// A terminal that is closed sends SIGHUP, on which nodes go on, and cannot be written any more.
for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"]) process.on(signal, stop);
process.stdout.on("error", () => undefined);
listen();
if (isScreen) process.stdout.on("resize", draw);
while (!isStopping) {
  rows = await Promise.all(members.map(ask));
  rate = await rateOf(rows);
  draw();
  await new Promise((done) => setTimeout(done, REFRESH_MS));
}

/** Generates keys and genesis file on the first run; later runs use the existing ones. */
function prepare() {
  const network = join(folder, "network");
  if (!existsSync(network)) generate(network);
  const keys = readdirSync(join(network, "keys")).sort();
  const count = asked.validators + asked.followers;
  const made = [];
  for (let index = 0; index < count; index++) {
    const dataPath = join(folder, `node${index + 1}`);
    mkdirSync(dataPath, { recursive: true });
    const address = keys[index];
    if (address !== undefined) {
      const key = readFileSync(join(network, "keys", address, "key.priv"), "utf8");
      writeFileSync(join(dataPath, "key"), key, { mode: 0o600 });
    }
    const options = [`--data-path=${dataPath}`, "--logging=OFF", "public-key", "export"];
    const nodeId = ibex(options).trim().split("\n").at(-1).replace(/^0x/, "");
    const port = asked["first-port"] + index;
    const url = `http://127.0.0.1:${port}`;
    const peerPort = port + PEER_PORT_DISTANCE;
    made.push({
      number: index + 1,
      dataPath,
      address,
      nodeId,
      port,
      url,
      peerPort,
      child: undefined,
      isWanted: true,
    });
  }
  const enodes = made.map(({ nodeId, peerPort }) => `enode://${nodeId}@127.0.0.1:${peerPort}?discport=0`);
  for (const { dataPath } of made) writeFileSync(join(dataPath, "static-nodes.json"), JSON.stringify(enodes));
  return made;
}

function generate(network) {
  mkdirSync(folder, { recursive: true });
  const development = JSON.parse(readFileSync(join(root, "genesis", "dev.json"), "utf8"));
  // Besu 24.7.0, which may join, has no Prague.
  const { ibft2, pragueTime: _, ...config } = development.config;
  const genesis = { ...development, config: { ...config, ibft2: { ...ibft2, requesttimeoutseconds: 2 } } };
  const request = { genesis, blockchain: { nodes: { generate: true, count: asked.validators } } };
  const file = join(folder, "request.json");
  writeFileSync(file, JSON.stringify(request));
  ibex([
    "--logging=OFF",
    "operator",
    "generate-blockchain-config",
    `--config-file=${file}`,
    `--to=${network}`,
  ]);
}

function ibex(options) {
  const { status, stdout, stderr } = spawnSync(process.execPath, [program, ...options], { encoding: "utf8" });
  if (status === 0) return stdout;
  console.error(`ibex ${options.join(" ")} ended with ${status}:\n${stdout}${stderr}`);
  process.exit(1);
}

function startNode(member) {
  const { dataPath, port, peerPort } = member;
  const options = [
    `--data-path=${dataPath}`,
    `--genesis-file=${join(folder, "network", "genesis.json")}`,
    `--p2p-port=${peerPort}`,
    "--p2p-interface=127.0.0.1",
    "--discovery-enabled=false",
    "--rpc-http-enabled",
    `--rpc-http-port=${port}`,
    "--rpc-http-api=ETH,NET,WEB3,TXPOOL,IBFT",
    "--min-gas-price=0",
    "--logging-format=JSON",
    ...(member.number === asked.validators + 1 ? followerOptions(port) : []),
  ];
  const path = join(dataPath, "node.log");
  const log = createWriteStream(path, { flags: "a" });
  member.logStart = existsSync(path) ? statSync(path).size : 0;
  const child = spawn(process.execPath, [program, ...options], { stdio: ["ignore", "pipe", "pipe"] });
  child.stdout.pipe(log, { end: false });
  child.stderr.pipe(log, { end: false });
  child.once("close", () =>
    log.end(() => {
      if (member.isWanted && !isStopping) say(`node ${member.number} ended ${endOf(member)}`);
    }),
  );
  member.child = child;
  member.isWanted = true;
}

/** What only the first follower offers: validators compile nothing, and show nothing. */
function followerOptions(port) {
  return [
    "--rpc-ws-enabled",
    `--rpc-ws-port=${port + WEB_SOCKET_DISTANCE}`,
    "--rpc-ws-api=ETH,NET,WEB3,TXPOOL,IBFT",
    "--explorer-enabled",
    `--explorer-port=${port + EXPLORER_DISTANCE}`,
    ...(asked.compilers === "" ? [] : [`--explorer-verify-compilers=${resolve(asked.compilers)}`]),
  ];
}

function isRunning({ child }) {
  return child.exitCode === null && child.signalCode === null;
}

/** How a node ended, and why, from what it has logged since its start. */
function endOf({ child, dataPath, logStart }) {
  const log = readFileSync(join(dataPath, "node.log")).subarray(logStart);
  const reason = reasonOf(log.subarray(-LOG_TAIL_BYTES).toString("utf8"));
  return child.signalCode === null
    ? `with exit code ${child.exitCode}: ${reason}`
    : `by ${child.signalCode}; its last line: ${reason}`;
}

/** Reads lines from the terminal, where they are shown at the bottom of the screen, or from a pipe. */
function listen() {
  if (process.stdin.isTTY) process.stdin.setRawMode(true);
  process.stdin.on("data", (bytes) => {
    for (const character of bytes.toString("utf8")) onCharacter(character);
    if (isScreen) draw();
  });
  process.stdin.on("error", () => undefined);
}

function onCharacter(character) {
  if (character === "\u0003") stop();
  else if (character === "\r" || character === "\n") {
    if (page !== "keys") obey(readCommand(typed));
    else uncover();
    typed = "";
  } else if (character === "\u007f" || character === "\b") typed = typed.slice(0, -1);
  else if (character >= " " && typed.length < LONGEST_COMMAND) typed += character;
}

function obey(command) {
  if (command.kind === "nothing") answer = "";
  else if (command.kind === "quit") stop();
  else if (command.kind === "keys") showKeys();
  else if (command.kind === "unknown") say(`'${command.line}' is none of: stop N, start N, keys, quit`);
  else changeNode(command);
}

function showKeys() {
  const lines = keyLines({ folder, chainId: CHAIN_ID, members });
  if (isScreen) process.stdout.write("\x1b[H\x1b[2J");
  console.log([...lines, ...(isScreen ? ["", "Enter goes on"] : [])].join("\n"));
  if (isScreen) page = "keys";
}

/** The screen comes back below the keys, which can be scrolled to. */
function uncover() {
  process.stdout.write("\n".repeat(sizeOf().rows));
  page = undefined;
}

function changeNode({ kind, number }) {
  const member = members[number - 1];
  if (member === undefined) return say(`there are nodes 1 to ${members.length}`);
  const isUp = isRunning(member);
  if ((kind === "start" && isUp) || (kind === "stop" && !isUp))
    return say(`node ${number} ${isUp ? "runs" : "does not run"}`);
  if (isUp) {
    member.isWanted = false;
    member.child.kill("SIGTERM");
  } else startNode(member);
  say(`node ${number} is ${isUp ? "stopped" : "started"}`);
}

function say(text) {
  answer = text;
  if (!isScreen) console.log(text);
}

async function ask(member) {
  const { port, isWanted } = member;
  if (!isRunning(member)) return { state: isWanted ? `ended ${endOf(member)}` : "stopped" };
  if (!isWanted) return { state: "stops" };
  try {
    const [status, peers, head] = await rpc(port, [
      ["ibft_status"],
      ["net_peerCount"],
      ["eth_getBlockByNumber", ["latest", false]],
    ]);
    return { state: "runs", status, peers: Number(peers), head };
  } catch {
    return { state: "starts" };
  }
}

/** Transactions per second over the last blocks, by their timestamps; undefined while there are too few. */
async function rateOf(rows) {
  const index = rows.findIndex(({ head }) => head !== undefined);
  if (index < 0) return undefined;
  const newest = Number(rows[index].head.number);
  if (newest <= RATE_WINDOW_BLOCKS) return undefined;
  const numbers = Array.from({ length: RATE_WINDOW_BLOCKS + 1 }, (_, back) => newest - back);
  const calls = numbers.map((number) => ["eth_getBlockByNumber", [`0x${number.toString(16)}`, false]]);
  const blocks = await rpc(members[index].port, calls).catch(() => []);
  const [last, first] = [blocks[0], blocks.at(-1)];
  if (!last || !first) return undefined;
  const transactions = blocks.slice(0, -1).reduce((sum, block) => sum + block.transactions.length, 0);
  return transactions / Math.max(1, Number(last.timestamp) - Number(first.timestamp));
}

async function rpc(port, calls) {
  const body = calls.map(([method, params = []], id) => ({ jsonrpc: "2.0", id, method, params }));
  const response = await fetch(`http://127.0.0.1:${port}`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify(body),
    signal: AbortSignal.timeout(REFRESH_MS),
  });
  return (await response.json()).map(({ result }) => result);
}

function draw() {
  if (isStopping || page === "keys") return;
  if (page === "start") {
    if (!rows.some(({ status }) => status?.isValidator)) return;
    uncover();
  }
  const summary = summaryOf();
  if (!isScreen) {
    console.log(summary);
    return;
  }
  const nodes = members.map(({ number, address, url }, index) => {
    const { state = "starts", status, peers, head } = rows[index] ?? {};
    return {
      number,
      url,
      peers,
      state,
      role: address === undefined ? "follower" : "validator",
      height: head === undefined ? undefined : Number(head.number),
      hash: head?.hash,
      round: status?.round ? Number(status.round) : undefined,
    };
  });
  const lines = screenLines({ folder, summary, nodes, answer, typed }, sizeOf());
  process.stdout.write(`\x1b[H\x1b[2J${lines.join("\n")}`);
}

function sizeOf() {
  const { columns, rows: height } = process.stdout;
  return { columns: columns || USUAL_SIZE.columns, rows: height || USUAL_SIZE.rows };
}

function summaryOf() {
  const shown = rows.find(({ status }) => status?.isValidator)?.status;
  if (shown === undefined) return "the nodes are starting";
  return (
    `deciding block ${Number(shown.height)}, round ${Number(shown.round ?? 0)}, proposer ${nameOf(shown.proposer)}` +
    (rate === undefined ? "" : `, ${rate.toFixed(1)} transactions per second`) +
    (shown.missing?.length > 0 ? `, missing ${shown.missing.map(nameOf).join(" ")}` : "")
  );
}

function nameOf(address) {
  const index = members.findIndex((member) => member.address === address);
  return index < 0 ? String(address) : `node ${index + 1}`;
}

async function stop() {
  if (isStopping) return;
  isStopping = true;
  await Promise.all(
    members.map(
      (member) =>
        new Promise((done) => {
          if (!isRunning(member)) done();
          member.child.once("exit", done);
          member.child.kill("SIGTERM");
        }),
    ),
  );
  if (process.stdin.isTTY) process.stdin.setRawMode(false);
  console.log(`${isScreen ? "\r\n" : ""}stopped`);
  process.exit(0);
}

function readArguments(known) {
  const values = { ...known };
  for (const argument of process.argv.slice(2)) {
    const [, name, value] = /^--([\w-]+)=(.+)$/.exec(argument) ?? [];
    const isNumber = typeof known[name] === "number";
    if (!(name in known) || (isNumber && !/^\d+$/.test(value))) {
      const options = Object.entries(known).map(([each, standard]) => `--${each}=${standard}`);
      console.error(`'${argument}' is none of: ${options.join(" ")}`);
      process.exit(2);
    }
    values[name] = isNumber ? Number(value) : value;
  }
  return values;
}

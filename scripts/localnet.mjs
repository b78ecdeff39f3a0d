/**
 * `npm run localnet -- [--validators=4] [--followers=1] [--folder=PATH] [--first-port=28545]`: a network of nodes on
 * loopback, with a status screen. Ctrl-C stops all of it. The folder is kept: the same command continues the same chain.
 * Node n answers JSON-RPC on first-port + n - 1, and listens for peers on that port + 1,000.
 */
import { spawn, spawnSync } from "node:child_process";
import { createWriteStream, existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const program = join(root, "dist", "main.js");
const asked = readArguments({ validators: 4, followers: 1, "first-port": 28545, folder: "ibex-localnet" });
const folder = resolve(asked.folder);
const PEER_PORT_DISTANCE = 1000;
const REFRESH_MS = 1000;
/** Window of the shown rate: long enough to be steady, short enough to be current. */
const RATE_WINDOW_BLOCKS = 10;

const members = prepare();
const children = members.map(startNode);
let isStopping = false;
// A terminal that is closed sends SIGHUP, on which nodes go on, and cannot be written any more.
for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"]) process.on(signal, stop);
process.stdout.on("error", () => undefined);
while (!isStopping) {
  const rows = await Promise.all(members.map(ask));
  draw(rows, await rateOf(rows));
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
    made.push({ index, dataPath, address, nodeId, port, peerPort: port + PEER_PORT_DISTANCE });
  }
  const enodes = made.map(({ nodeId, peerPort }) => `enode://${nodeId}@127.0.0.1:${peerPort}?discport=0`);
  for (const { dataPath } of made) writeFileSync(join(dataPath, "static-nodes.json"), JSON.stringify(enodes));
  return made;
}

function generate(network) {
  mkdirSync(folder, { recursive: true });
  const development = JSON.parse(readFileSync(join(root, "genesis", "dev.json"), "utf8"));
  const { ibft2, ...config } = development.config;
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

function startNode({ dataPath, port, peerPort }) {
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
  ];
  const log = createWriteStream(join(dataPath, "node.log"), { flags: "a" });
  const child = spawn(process.execPath, [program, ...options], { stdio: ["ignore", "pipe", "pipe"] });
  child.stdout.pipe(log);
  child.stderr.pipe(log);
  return child;
}

async function ask({ index, port }) {
  const child = children[index];
  if (child.exitCode !== null || child.signalCode !== null) return { state: `ended (${child.exitCode})` };
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

function draw(rows, rate) {
  const shown = rows.find(({ status }) => status?.isValidator)?.status;
  const lines = [
    `Ibex localnet in ${folder}`,
    shown === undefined
      ? "the nodes are starting"
      : `deciding block ${Number(shown.height)}, round ${Number(shown.round ?? 0)}, proposer ${nameOf(shown.proposer)}` +
        (rate === undefined ? "" : `, ${rate.toFixed(1)} transactions per second`) +
        (shown.missing?.length > 0 ? `, missing ${shown.missing.map(nameOf).join(" ")}` : ""),
    "",
    "node  role       port    height  head        peers  round  state",
    ...rows.map(rowText),
    "",
    `logs: ${join(folder, "node1", "node.log")} …; Ctrl-C stops the network`,
  ];
  if (process.stdout.isTTY) process.stdout.write(`\x1b[H\x1b[2J${lines.join("\n")}\n`);
  else console.log(lines[1]);
}

function rowText({ state, status, peers, head }, index) {
  const { address, port } = members[index];
  return [
    String(index + 1).padEnd(4),
    (address === undefined ? "follower" : "validator").padEnd(9),
    String(port).padEnd(6),
    String(head === undefined ? "" : Number(head.number)).padStart(6),
    (head?.hash.slice(0, 10) ?? "").padEnd(10),
    String(peers ?? "").padStart(5),
    String(status?.round ? Number(status.round) : "").padStart(5),
    state,
  ].join("  ");
}

function nameOf(address) {
  const index = members.findIndex((member) => member.address === address);
  return index < 0 ? String(address) : `node ${index + 1}`;
}

async function stop() {
  if (isStopping) return;
  isStopping = true;
  await Promise.all(
    children.map(
      (child) =>
        new Promise((done) => {
          if (child.exitCode !== null || child.signalCode !== null) done();
          child.once("exit", done);
          child.kill("SIGTERM");
        }),
    ),
  );
  console.log("stopped");
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

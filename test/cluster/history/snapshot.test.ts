import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, onTestFinished } from "vitest";
import {
  DEV_VALIDATOR_ADDRESS,
  DEV_VALIDATOR_KEY,
  DEV_VALIDATOR_KEY_FILE,
} from "../../../src/config/devNetwork.ts";
import { type Hex, toHex } from "../../../src/primitives/hex.ts";
import { toQuantity } from "../../../src/primitives/quantity.ts";
import { curve } from "../../../src/primitives/secp256k1.ts";
import { epochChain } from "../../builders/epochChain.ts";
import { blockFileOf } from "../../builders/sealedChain.ts";
import { account, accountFromSeed } from "../../builders/testAccounts.ts";
import { itIfThorough } from "../../thorough.ts";
import { heightOf, reach } from "../harness/chainReading.ts";
import {
  freePort,
  type NodeProcess,
  RpcFailure,
  runProgram,
  startNodeProcess,
  temporaryFolder,
  until,
} from "../harness/nodeProcess.ts";

const HEAD = 290;
/** The last epoch block with 256 blocks after it. */
const FIRST_HEADER = 20;
/** So many that an import can be killed in the middle. */
const ACCOUNTS = 20_000;
const JOINER = accountFromSeed(7);

itIfThorough(
  "a node made from a snapshot follows, answers as others do, says what it lacks, and becomes a validator",
  async () => {
    const { genesis, blocks, hashes } = await epochChain({ head: HEAD, busyFrom: HEAD, accounts: ACCOUNTS });
    const folder = temporaryFolder();
    const at = (name: string) => join(folder, name);
    writeFileSync(at("genesis.json"), genesis);
    writeFileSync(at("chain.rlp"), blockFileOf(blocks));
    const ibex = (data: string, ...args: readonly string[]) =>
      runProgram([`--data-path=${at(data)}`, `--genesis-file=${at("genesis.json")}`, ...args]);
    const peerPort = { whole: await freePort(), made: await freePort() };
    const start = async (
      data: "whole" | "made",
      keyFile: string,
      peers: readonly string[],
    ): Promise<NodeProcess> => {
      writeFileSync(at(join(data, "static-nodes.json")), JSON.stringify(peers));
      const node = await startNodeProcess({
        dataPath: at(data),
        options: [
          `--genesis-file=${at("genesis.json")}`,
          `--node-private-key-file=${keyFile}`,
          `--p2p-port=${peerPort[data]}`,
          "--p2p-interface=127.0.0.1",
          "--discovery-enabled=false",
          "--rpc-http-enabled",
          "--rpc-http-api=ETH,NET,WEB3,IBFT,DEBUG,TRACE,ADMIN",
          "--rpc-max-logs-range=0",
          "--Xdatabase-scrub-seconds=1",
        ],
      });
      onTestFinished(node.kill);
      return node;
    };

    const imported = ibex("whole", "blocks", "import", at("chain.rlp"));
    expect(await imported.exit).toBe(0);
    const exported = ibex("whole", "snapshot", "export", `--to=${at("snapshot")}`);
    expect(await exported.exit).toBe(0);
    expect(exported.output()).toContain(`block hash: ${hashes[HEAD]}`);

    // Killed in the middle, the folder is refused; the next import starts over.
    const importAll = ["snapshot", "import", `--from=${at("snapshot")}`, `--block-hash=${hashes[HEAD]}`];
    mkdirSync(at("made"));
    writeFileSync(at("made/key"), toHex(JOINER.privateKey));
    const killed = ibex("made", ...importAll);
    await until(
      async () => (killed.output().includes("the headers of the snapshot are valid") ? true : undefined),
      "the headers",
    );
    killed.child.kill("SIGKILL");
    await killed.exit;
    const refused = ibex("made");
    expect([await refused.exit, refused.output()]).toEqual([2, expect.stringContaining("was not finished")]);
    const again = ibex("made", ...importAll);
    expect([await again.exit, again.output()]).toEqual([0, expect.stringContaining("import finished")]);

    const whole = await start("whole", DEV_VALIDATOR_KEY_FILE, []);
    const enode = `enode://${toHex(curve.publicKey(DEV_VALIDATOR_KEY)).slice(2)}@127.0.0.1:${peerPort.whole}?discport=0`;
    const made = await start("made", at("made/key"), [enode]);
    const madeStartedAt = Date.now() / 1000;
    await reach([made], HEAD + 2);

    await expectEqualAnswers(whole, made);
    await expectWhatItLacks(whole, made, hashes);

    // Without a record of its votes it is silent until a block is some seconds later than its start (ibft2.md#lost-votes). As one of
    // two validators it would be silent for ever.
    await until(
      async () => ((await timestampOf(made)) > madeStartedAt + DOUBT_SECONDS ? true : undefined),
      "a block that ends the silence",
    );
    // Votes on top of the imported state: the node proposes and seals with the other one.
    expect(await whole.rpc("ibft_proposeValidatorVote", [toHex(JOINER.address), true])).toBe(true);
    const both = [toHex(DEV_VALIDATOR_ADDRESS), toHex(JOINER.address)].sort();
    await until(
      async () =>
        (await made.rpc<Hex[]>("ibft_getValidatorsByBlockNumber", ["latest"])).length === 2
          ? true
          : undefined,
      "two validators",
    );
    expect([...(await made.rpc<Hex[]>("ibft_getValidatorsByBlockNumber", ["latest"]))].sort()).toEqual(both);
    await reach([whole, made], (await heightOf(whole)) + 3);

    // The scrubber knows where the history begins.
    await until(
      async () => (made.output().includes("the whole database was verified and is sound") ? true : undefined),
      "a round of the scrubber",
    );

    // A restart finds all that again.
    expect(await made.stop()).toBe(0);
    const check = runProgram([`--data-path=${at("made")}`, "database", "check"]);
    expect([await check.exit, check.output()]).toEqual([
      0,
      expect.stringContaining("The database is sound."),
    ]);
    const restarted = await start("made", at("made/key"), [enode]);
    await reach([whole, restarted], (await heightOf(whole)) + 2);
  },
);

/** As src/ibft/lostVotes.ts has it. */
const DOUBT_SECONDS = 5;

async function timestampOf(node: NodeProcess): Promise<number> {
  return Number((await node.rpc<{ timestamp: Hex }>("eth_getBlockByNumber", ["latest", false])).timestamp);
}

/** At the snapshot's block and above, both nodes say the same. */
async function expectEqualAnswers(whole: NodeProcess, made: NodeProcess): Promise<void> {
  const { transactions } = await whole.rpc<{ transactions: Hex[] }>("eth_getBlockByNumber", [
    toQuantity(HEAD),
    false,
  ]);
  const receipt = await whole.rpc<{ contractAddress: Hex }>("eth_getTransactionReceipt", [transactions[0]]);
  const contract = receipt.contractAddress;
  for (const number of [HEAD, HEAD + 1].map(toQuantity)) {
    const hash = (await whole.rpc<{ hash: Hex }>("eth_getBlockByNumber", [number, false])).hash;
    const rich = toHex(account(0).address);
    const calls: readonly [string, readonly unknown[]][] = [
      ["eth_getBlockByNumber", [number, true]],
      ["eth_getBlockByHash", [hash, false]],
      ["eth_getBlockReceipts", [number]],
      ["eth_getBalance", [rich, number]],
      ["eth_getTransactionCount", [rich, number]],
      ["eth_getStorageAt", [contract, "0x2", number]],
      ["eth_getCode", [contract, number]],
      ["eth_call", [{ to: contract, data: `0x${"01".padStart(64, "0")}` }, number]],
      ["eth_getProof", [contract, ["0x1", "0x9"], number]],
      ["eth_getLogs", [{ fromBlock: number, toBlock: number }]],
      ["eth_getLogs", [{ blockHash: hash }]],
      ["ibft_getValidatorsByBlockNumber", [number]],
      ["debug_getRawBlock", [number]],
      ["debug_accountRange", [number, 0, "0x0", 5]],
    ];
    for (const [method, params] of calls) {
      const answer = await made.rpc(method, params);
      expect([method, number, answer]).toEqual([method, number, await whole.rpc(method, params)]);
      expect([method, answer]).not.toEqual([method, null]);
    }
  }
  const logs = await made.rpc<readonly unknown[]>("eth_getLogs", [{ fromBlock: toQuantity(HEAD) }]);
  expect(logs.length).toBe(1);
  for (const method of ["eth_getTransactionByHash", "eth_getTransactionReceipt"])
    expect(await made.rpc(method, [transactions[0]])).toEqual(await whole.rpc(method, [transactions[0]]));
}

/** Below the snapshot's block nothing is made up. */
async function expectWhatItLacks(
  whole: NodeProcess,
  made: NodeProcess,
  hashes: readonly string[],
): Promise<void> {
  const rich = toHex(account(0).address);
  const failureOf = async (method: string, params: readonly unknown[]): Promise<unknown> => {
    const error: unknown = await made.rpc(method, params).catch((reason: unknown) => reason);
    return error instanceof RpcFailure ? [error.code, error.message] : error;
  };
  expect(await made.rpc("eth_getBlockByNumber", ["0x0", false])).toEqual(
    await whole.rpc("eth_getBlockByNumber", ["0x0", false]),
  );
  const unknown = toQuantity(1_000_000);
  const ofBlocks = ["eth_getBlockByNumber", "eth_getBlockReceipts", "debug_getRawBlock", "trace_block"];
  const ofStates: readonly [string, (block: Hex) => readonly unknown[]][] = [
    ["eth_getBalance", (block) => [rich, block]],
    ["eth_getCode", (block) => [rich, block]],
    ["eth_getStorageAt", (block) => [rich, "0x0", block]],
    ["eth_getTransactionCount", (block) => [rich, block]],
    ["eth_getProof", (block) => [rich, [], block]],
    ["eth_call", (block) => [{ to: rich }, block]],
  ];
  const withoutState: Record<string, unknown> = {
    eth_getBalance: null,
    eth_getCode: null,
    eth_getStorageAt: null,
    eth_getTransactionCount: [-32000, "World state unavailable"],
    eth_getProof: [-32000, "Account not found"],
    eth_call: [-32603, "Internal error"],
  };
  for (const number of [1, FIRST_HEADER - 1, FIRST_HEADER, 250, HEAD - 1]) {
    const text = toQuantity(number);
    for (const method of ofBlocks) {
      const parameters = method === "eth_getBlockByNumber" ? [true] : [];
      const answer = await failureOf(method, [text, ...parameters]);
      expect([method, number, answer]).toEqual([
        method,
        number,
        await failureOf(method, [unknown, ...parameters]),
      ]);
    }
    expect(await made.rpc("eth_getBlockByHash", [hashes[number], false])).toBe(null);
    for (const [method, parametersAt] of ofStates)
      expect([method, number, await failureOf(method, parametersAt(text))]).toEqual([
        method,
        number,
        number < FIRST_HEADER ? await failureOf(method, parametersAt(unknown)) : withoutState[method],
      ]);
    const unavailable = [4444, "Pruned history unavailable"];
    expect(await failureOf("eth_getLogs", [{ fromBlock: text, toBlock: "latest" }])).toEqual(unavailable);
    expect(await failureOf("eth_getLogs", [{ fromBlock: text, toBlock: text }])).toEqual(unavailable);
  }
  expect(await failureOf("eth_getLogs", [{ fromBlock: "earliest" }])).toEqual([4444, expect.any(String)]);
  expect(await failureOf("ibft_getSignerMetrics", ["0x1", "0x5"])).toEqual([4444, expect.any(String)]);
  expect(await failureOf("debug_traceBlockByNumber", [toQuantity(HEAD)])).toEqual([
    -32000,
    "World state unavailable",
  ]);
  expect(await failureOf("debug_setHead", [toQuantity(HEAD - 1)])).toEqual([
    -32000,
    expect.stringContaining(`states begin with that of block ${HEAD}`),
  ]);
  const fees = await made.rpc<{ oldestBlock: Hex }>("eth_feeHistory", ["0x64", "latest", [50]]);
  expect(Number(fees.oldestBlock)).toBe(HEAD);
  const busy = await whole.rpc<{ transactions: Hex[] }>("eth_getBlockByNumber", [toQuantity(250), false]);
  expect(busy.transactions.length).toBe(2);
  for (const method of ["eth_getTransactionByHash", "eth_getTransactionReceipt"])
    expect(await made.rpc(method, [busy.transactions[0]])).toBe(null);
}

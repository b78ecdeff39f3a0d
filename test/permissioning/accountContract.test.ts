import { readFileSync } from "node:fs";
import { encodeFunctionData, parseAbi } from "viem";
import { beforeAll, describe, expect, it } from "vitest";
import type { Chain } from "../../src/chain/createChain.ts";
import type { ChainSpec } from "../../src/chainspec/chainSpec.ts";
import { DEV_GENESIS_FILE, DEV_VALIDATOR_KEY } from "../../src/config/devNetwork.ts";
import { loadInterpreter } from "../../src/execution/blockSession.ts";
import { runSimulation } from "../../src/execution/simulation/runSimulation.ts";
import { NEVER_YIELD } from "../../src/execution/yieldPolicy.ts";
import { createLogger, type Logger, silentLogger } from "../../src/observability/logger.ts";
import { Metrics } from "../../src/observability/registry.ts";
import { metricsText } from "../../src/observability/textFormat.ts";
import { AccountContract } from "../../src/permissioning/contract/accountContract.ts";
import { HeadCalls } from "../../src/permissioning/contract/headCalls.ts";
import { transactionPayload } from "../../src/permissioning/contract/transactionPayload.ts";
import { addressFromHex } from "../../src/primitives/address.ts";
import { expectDefined } from "../../src/primitives/assert.ts";
import { systemClock } from "../../src/primitives/clock.ts";
import { hexToBytes, toHex } from "../../src/primitives/hex.ts";
import type { Requester } from "../../src/primitives/requester.ts";
import { addressOfPrivateKey } from "../../src/primitives/secp256k1.ts";
import type { Block } from "../../src/types/block.ts";
import type { SentTransaction } from "../../src/types/transaction.ts";
import { aChain, type TestChain } from "../builders/aChain.ts";
import { aSupply } from "../builders/aSupply.ts";
import { aTransaction } from "../builders/aTransaction.ts";
import { createHandClock } from "../builders/handClock.ts";
import { commitBlock } from "../builders/sealedChain.ts";
import { account } from "../builders/testAccounts.ts";
import { MODE, permissionRules } from "../contracts/permissionRules.ts";
import { describeWithVectors, readVectorJson } from "../vectors.ts";

const { AccountRules } = permissionRules();
const RULES = addressFromHex("0x00000000000000000000000000000000000a11ed");
const START_SECONDS = 1_700_000_000n;
const SENDER = account(3);
const OPERATOR = account(0);

/** The development network with the contract at RULES. */
function genesisWithRules(code: string = AccountRules.runtime): string {
  const genesis = JSON.parse(readFileSync(DEV_GENESIS_FILE, "utf8")) as { alloc: object };
  const alloc = { ...genesis.alloc, [toHex(RULES).slice(2)]: { balance: "0x0", code } };
  return JSON.stringify({ ...genesis, alloc, gasLimit: "0x4c4b40" });
}

const clock = { ...systemClock, nowMs: () => Number(START_SECONDS) * 1000 + 60_000 };

function asking(gasCap = 0n, logger: Logger = silentLogger, metrics?: Metrics) {
  return (spec: ChainSpec) => new AccountContract({ address: RULES, spec, gasCap }, { logger, metrics });
}

/** A chain that asks the contract, and one that does not. */
async function chains(code?: string): Promise<{ readonly strict: Chain; readonly lax: Chain }> {
  const builder = addressOfPrivateKey(DEV_VALIDATOR_KEY);
  const choices = { genesis: genesisWithRules(code), clock, builder };
  const strict = await aChain({ ...choices, accountContract: asking() });
  return { strict: strict.chain, lax: (await aChain(choices)).chain };
}

function toRules(nonce: bigint, functionName: string, args: readonly unknown[]): SentTransaction {
  const data = hexToBytes(encodeFunctionData({ abi: AccountRules.abi, functionName, args }));
  return aTransaction({ nonce, to: RULES, value: 0n, data, privateKey: OPERATOR.privateKey });
}

const deny = (nonce: bigint, isDenied = true) =>
  toRules(nonce, "setDenied", [toHex(SENDER.address), isDenied]);
const transfer = (nonce = 0n) => aTransaction({ nonce, privateKey: SENDER.privateKey });

let seconds = START_SECONDS;
/** Makes a block on the chain that does not ask, and imports it into the other one. */
async function pass({ strict, lax }: Awaited<ReturnType<typeof chains>>, body: readonly SentTransaction[]) {
  const block: Block = await commitBlock(lax, seconds++, body);
  return strict.importBlock(block);
}

beforeAll(() => loadInterpreter());

describe("the call of transactionAllowed", () => {
  const abi = parseAbi([
    "function transactionAllowed(address,address,uint256,uint256,uint256,bytes) view returns (bool)",
  ]);
  const fields = { value: 7n, gasLimit: 90_000n, gasPrice: 5n };
  const payloadOf = (changes: Partial<Parameters<typeof aTransaction>[0]>) =>
    toHex(transactionPayload(aTransaction({ ...fields, ...changes })));
  const from = toHex(OPERATOR.address);
  const to = toHex(account(1).address);

  it("is what the ABI says where the data is no multiple of 32 bytes long", () => {
    const args = [from, to, 7n, 5n, 90_000n, "0x1234"] as const;
    expect(payloadOf({ data: hexToBytes("0x1234") })).toBe(encodeFunctionData({ abi, args }));
  });

  it("has a word of zeros more where it is one, as Besu's has", () => {
    for (const data of ["0x", `0x${"12".repeat(64)}`] as const) {
      const encoded = encodeFunctionData({ abi, args: [from, to, 7n, 5n, 90_000n, data] });
      expect(payloadOf({ data: hexToBytes(data) })).toBe(encoded + "00".repeat(32));
    }
  });

  it("names the zero address for a creation, and no price for a type 2 transaction", () => {
    const args = [from, `0x${"00".repeat(20)}`, 7n, 0n, 90_000n, "0x01"] as const;
    expect(payloadOf({ type: 2, to: undefined, data: hexToBytes("0x01") })).toBe(
      encodeFunctionData({ abi, args }),
    );
  });
});

describe("a block of another validator", () => {
  it("is invalid once its parent's state denies the sender, and valid when it permits it again", async () => {
    const both = await chains();
    expect((await pass(both, [transfer(0n)])).ok).toBe(true);
    expect((await pass(both, [deny(0n)])).ok).toBe(true);
    const { strict, lax } = both;
    const refused = await pass(both, [transfer(1n)]);
    expect(refused).toMatchObject({
      ok: false,
      error: {
        code: "invalidTransaction",
        fault: "peer",
        message: expect.stringContaining(
          `Sender ${toHex(SENDER.address)} is not on the Account Allowlist`,
        ) as string,
      },
    });
    await lax.rewind(2n);
    expect((await pass(both, [deny(1n, false)])).ok).toBe(true);
    expect((await pass(both, [transfer(1n)])).ok).toBe(true);
    expect(toHex(strict.head.hash)).toBe(toHex(lax.head.hash));
  });

  it("is judged by its parent's state, not by what its own transactions change", async () => {
    const both = await chains();
    expect((await pass(both, [deny(0n), transfer(0n)])).ok).toBe(true);
    const refused = await pass(both, [deny(1n, false), transfer(1n)]);
    expect(refused).toMatchObject({ ok: false, error: { code: "invalidTransaction" } });
  });

  it.each([
    ["reverts", MODE.reverts, "failed when processing"],
    ["loops until its gas is used up", MODE.loops, "failed when processing"],
    ["answers 2", MODE.answersTwo, "Unexpected result form"],
    ["answers 31 bytes", MODE.answersShort, "Unexpected result size"],
  ])("is invalid while the contract %s", async (_, mode, reason) => {
    const both = await chains();
    expect((await pass(both, [toRules(0n, "misbehave", [mode])])).ok).toBe(true);
    expect(await pass(both, [transfer()])).toMatchObject({
      ok: false,
      error: { code: "invalidTransaction", message: expect.stringContaining(reason) as string },
    });
  });

  it("is valid where the contract does not exist, and invalid where an account without code has its address", async () => {
    const builder = addressOfPrivateKey(DEV_VALIDATOR_KEY);
    const genesis = readFileSync(DEV_GENESIS_FILE, "utf8");
    const lax = (await aChain({ genesis, clock, builder })).chain;
    const strict = (await aChain({ genesis, clock, builder, accountContract: asking() })).chain;
    const both = { strict, lax };
    const funded = aTransaction({ to: RULES, value: 1n, privateKey: OPERATOR.privateKey });
    expect((await pass(both, [transfer(), funded])).ok).toBe(true);
    expect(await pass(both, [transfer(1n)])).toMatchObject({
      ok: false,
      error: { message: expect.stringContaining("Unexpected result size") as string },
    });
  });

  it("is judged alike in a bulk import, each block by its own parent", async () => {
    const both = await chains();
    const { strict, lax } = both;
    const blocks: Block[] = [];
    for (const body of [[transfer(0n)], [deny(0n)], [], [transfer(1n)]])
      blocks.push(await commitBlock(lax, seconds++, body));
    const bulk = await strict.bulkImport();
    const { checked } = await strict.headerRun(bulk.tip).extend(blocks.map(({ header }) => header));
    const outcomes: boolean[] = [];
    for (const [index, header] of checked.entries()) {
      const { header: _, ...body } = expectDefined(blocks[index], "a block");
      outcomes.push((await bulk.importBlock(strict.prepareBlock({ header, body }))).ok);
    }
    await bulk.close();
    expect(outcomes).toEqual([true, true, true, false]);
    expect(strict.head.header.number).toBe(3n);
  });
});

describe("a block of ours", () => {
  it("leaves out and drops what the contract denies", async () => {
    const both = await chains();
    await pass(both, [deny(0n)]);
    const { strict } = both;
    const { supply, dropped } = aSupply([transfer(), aTransaction({ privateKey: account(4).privateKey })]);
    const built = await strict.build({ parent: strict.head, round: 0, timestamp: seconds++ }, supply);
    expect(built).toMatchObject({ ok: true, value: { transactions: { length: 1 } } });
    expect(dropped).toEqual([`Sender ${toHex(SENDER.address)} is not on the Account Allowlist`]);
  });

  it("ends in its time though the contract loops, and goes without the transactions", async () => {
    let nowMs = Number(START_SECONDS) * 1000 + 100_000;
    const passing = { nowMs: () => (nowMs += 1), at: () => ({ cancel: () => undefined }) };
    const builder = addressOfPrivateKey(DEV_VALIDATOR_KEY);
    const endless = { ...JSON.parse(genesisWithRules("0x5b600056")), gasLimit: "0x1fffffffffffff" } as object;
    const { chain } = await aChain({
      genesis: JSON.stringify(endless),
      clock: passing,
      builder,
      accountContract: asking(),
    });
    const { supply } = aSupply([transfer()]);
    const built = await chain.build({ parent: chain.head, round: 0, timestamp: seconds++ }, supply);
    expect(built).toMatchObject({ ok: true, value: { transactions: { length: 0 } } });
  });
});

describe("a question at the head", () => {
  /** The answers of a chain's contract, and how often it was called. */
  function atHead({ chain, spec, world }: TestChain, gasCap = 0n, metrics?: Metrics) {
    let calls = 0;
    const contract = asking(gasCap, silentLogger, metrics)(spec);
    const { head } = chain;
    const headCalls = new HeadCalls(
      {
        chain,
        state: world.head,
        simulator: {
          runNow: () => undefined,
          async run(job) {
            calls++;
            const { header } = head;
            const state = world.head;
            return runSimulation(job, {
              spec,
              header,
              state,
              gasCap,
              ancestorHash: () => undefined,
              yieldPolicy: NEVER_YIELD,
            });
          },
        },
      },
      "nodes",
    );
    return {
      contract,
      headCalls,
      ask: (transaction: SentTransaction) => contract.askAtHead(transaction, headCalls),
      calls: () => calls,
    };
  }

  it("is asked once of a transaction, and counted each time", async () => {
    const metrics = new Metrics(
      { categories: new Set(["PERMISSIONING"]), hasTimers: false },
      { clock, stopwatchMs: () => 0 },
    );
    const { ask, calls } = atHead(await aChain({ genesis: genesisWithRules(), clock }), 0n, metrics);
    expect([await ask(transfer()), await ask(transfer()), await ask(transfer(1n))]).toEqual(
      Array(3).fill("permitted"),
    );
    expect(calls()).toBe(2);
    const text = metricsText(await metrics.collect());
    expect(text).toMatch(/^besu_permissioning_transaction_smart_contract_check_count_total 3/m);
    expect(text).toMatch(/^besu_permissioning_transaction_smart_contract_check_count_permitted_total 3/m);
    expect(text).toMatch(/^besu_permissioning_transaction_smart_contract_check_count_unpermitted_total 0/m);
  });

  it("that a machine could not afford to answer decides nothing, and is asked again", async () => {
    const { chain, spec, world } = await aChain({ genesis: genesisWithRules(), clock });
    const contract = asking()(spec);
    let calls = 0;
    const run = () => Promise.resolve({ kind: calls++ === 0 ? "tooLarge" : "timedOut", limitMs: 1 } as const);
    const simulator = { run, runNow: () => undefined };
    const headCalls = new HeadCalls({ chain, state: world.head, simulator }, "transactions of callers");
    expect(await contract.askAtHead(transfer(), headCalls)).toBe(undefined);
    expect(await contract.askAtHead(transfer(), headCalls)).toBe(undefined);
    const parent = { ...chain.head, state: world.head, ancestorHash: () => undefined };
    expect(await contract.askingAfter(parent)(transfer(), NEVER_YIELD)).toBe("permitted");
  });

  it("about a peer's transaction waits with others of peers, which delay no caller's", async () => {
    const { chain, world } = await aChain({ genesis: genesisWithRules(), clock });
    const hosts: string[] = [];
    const run = async (_: unknown, { remoteHost }: Requester) => {
      hosts.push(remoteHost);
      return { kind: "busy" } as const;
    };
    const simulator = { run, runNow: () => undefined };
    const ofNodes = new HeadCalls({ chain, state: world.head, simulator }, "nodes");
    for (const calls of [
      ofNodes,
      ofNodes.for("transactions of callers"),
      ofNodes.for("transactions of peers"),
    ])
      await calls.run(RULES, new Uint8Array());
    expect(new Set(hosts).size).toBe(3);
  });

  it("has the gas of the head, or the gas cap in its place", async () => {
    const { ask } = atHead(await aChain({ genesis: genesisWithRules(), clock }), 20_000n);
    expect(await ask(transfer())).toEqual({
      failure: "Transaction permissioning transaction found to be Invalid",
    });
  });

  it("finds at the start that a contract does not answer", async () => {
    const broken = atHead(await aChain({ genesis: genesisWithRules("0x60006000fd"), clock }));
    expect(await broken.contract.probe(broken.headCalls)).toMatchObject({
      error: { code: "unusablePermissions", message: expect.stringContaining("failed when processing") },
    });
    const sound = atHead(await aChain({ genesis: genesisWithRules(), clock }));
    expect(await sound.contract.probe(sound.headCalls)).toMatchObject({ ok: true });
  });

  it("is not asked by the pool about senders whom the list denies", async () => {
    const { contract, headCalls } = atHead(await aChain({ genesis: genesisWithRules(), clock }));
    const asked = transfer();
    expect(await contract.asking(headCalls, { has: () => false })(asked, "local")).toBe("notAsked");
    const answer = await contract.askAtHead(asked, headCalls);
    for (const list of [undefined, { has: () => true }])
      expect(await contract.asking(headCalls, list)(asked, "remote")).toBe(answer);
  });

  it("is unknown to the pool while the contract gives no answer", async () => {
    const { contract, headCalls } = atHead(
      await aChain({ genesis: genesisWithRules("0x60006000fd"), clock }),
    );
    expect(await contract.asking(headCalls, undefined)(transfer(), "local")).toBe("unknown");
  });
});

describeWithVectors("Besu's own cases of the account contract", () => {
  const CONTRACT = addressFromHex("0x0000000000000000000000000000000000001234");
  const word = (digit: string) => addressFromHex(`0x${digit.padStart(40, "0")}`);

  /** What the contract of a genesis file of Besu's says about a sender. */
  async function ask(file: string, sender: string) {
    const besu = readVectorJson<{ alloc: object }>(
      "besu-core",
      "permissioning",
      "TransactionSmartContractPermissioningControllerTest",
      file,
    );
    const dev = JSON.parse(readFileSync(DEV_GENESIS_FILE, "utf8")) as object;
    const { chain, spec, world } = await aChain({
      genesis: JSON.stringify({ ...dev, alloc: besu.alloc }),
      clock,
    });
    const contract = new AccountContract(
      { address: CONTRACT, spec, gasCap: 0n },
      { logger: silentLogger, metrics: undefined },
    );
    const asked = contract.askingAfter({ ...chain.head, state: world.head, ancestorHash: () => undefined });
    return asked({ ...aTransaction({ data: hexToBytes("0x1234") }), sender: word(sender) }, NEVER_YIELD);
  }

  it("the listed account is permitted, another one is not", async () => {
    expect(await ask("preseededSmartPermissioning.json", "1")).toBe("permitted");
    expect(await ask("preseededSmartPermissioning.json", "2")).toBe("denied");
  });

  it("a missing contract permits, a corrupt one fails", async () => {
    expect(await ask("noSmartPermissioning.json", "1")).toBe("permitted");
    expect(await ask("corruptSmartPermissioning.json", "1")).toEqual({
      failure: "Transaction permissioning transaction failed when processing",
    });
  });
});

it("a contract that is found and missing by turns is reported in a bounded number of lines", async () => {
  const lines: string[] = [];
  const logger = createLogger(
    { level: "INFO", moduleLevels: {}, format: "json", isColored: false },
    { write: (line) => void lines.push(line) },
    createHandClock(0),
  );
  const { spec } = await aChain({ genesis: genesisWithRules() });
  const contract = asking(0n, logger)(spec);
  for (let turn = 0; turn < 200; turn++) {
    const head = { hash: Uint8Array.of(turn) };
    const yes = { kind: "returned", data: new Uint8Array(32).fill(1, 31), gas: 1n };
    const calls = { head, run: async () => (turn % 2 === 0 ? "absent" : yes) } as unknown as HeadCalls;
    expect(await contract.askAtHead(transfer(), calls)).toBe("permitted");
  }
  expect(lines[0]).toContain("Any transaction will be allowed.");
  expect(lines).toHaveLength(10);
});

import {
  type Hex,
  maxUint256,
  type PrivateKeyAccount,
  parseEther,
  type TransactionSerializableEIP1559,
  toHex,
} from "viem";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createComparison } from "../cluster/harness/answerComparison.ts";
import { blockHashes, comparableAnswers, finishedHead } from "../cluster/harness/anvilAnswers.ts";
import { LISTED } from "../cluster/harness/anvilDifferences.ts";
import {
  type AnvilProcess,
  anvilBinary,
  BESIDE_ANVIL,
  mineAlike,
  startAnvilProcess,
} from "../cluster/harness/anvilProcess.ts";
import { type NodeProcess, startNodeProcess } from "../cluster/harness/nodeProcess.ts";
import { IS_THOROUGH } from "../thorough.ts";
import { delivery, passageIn, prove } from "./bridgeProofs.ts";
import { type Actor, type Call, type Contract, call, dataOf } from "./chainClient.ts";
import { accountNamed, BRIDGE_THRESHOLD, type Deployment, deployApplications, NATIVE } from "./deployment.ts";
import { type Networks, networksOn } from "./networks.ts";

/** What a developer sees of the same transactions of the applications on this node and on anvil. */

const NEVER = maxUint256;
const binary = anvilBinary();

/** Beyond those of the chain that test/cluster/clients/anvil.test.ts compares: logs in calls of calls. */
const ALL_LISTED = [
  ...LISTED,
  ...["result.calls[].logs[].index", "result.calls[].calls[].logs[].index"].map((member) => ({
    method: "debug_traceTransaction callTracer withLog",
    member,
    reason: "anvil adds it; go-ethereum 1.14.7 does not",
  })),
  ...["result", "error"].flatMap((member) => [
    {
      method: "eth_sendRawTransaction again, at the same price",
      member,
      reason: "Besu asks no higher price of a replacement where the base fee is zero",
    },
    {
      method: "eth_sendRawTransaction with too little gas for its data",
      member,
      reason: "anvil finds out when it mines",
    },
  ]),
];

interface Attempt extends Call {
  readonly from: Hex;
}

describe.skipIf(!IS_THOROUGH || binary === undefined)("the applications on anvil", () => {
  let node: NodeProcess;
  let anvil: AnvilProcess;
  let networks: Networks;
  let deployment: Deployment;
  let hashes: readonly Hex[] = [];
  let comparison: ReturnType<typeof createComparison>;

  beforeAll(async () => {
    node = await startNodeProcess({ options: BESIDE_ANVIL });
    anvil = await startAnvilProcess(binary as string);
    networks = networksOn(node);
    deployment = await deployApplications(networks);
    await useApplications(deployment);
    await node.rpc("miner_stop");
    const headNumber = await finishedHead(node);
    const raws = await rawTransactions(headNumber);
    hashes = [...raws.keys()];
    await mineAlike(anvil, node, raws, headNumber);
    const hashesOf = {
      ours: await blockHashes(node, headNumber),
      theirs: await blockHashes(anvil, headNumber),
    };
    comparison = createComparison(node.rpc, anvil.rpc, ALL_LISTED, comparableAnswers(hashesOf));
  });

  afterAll(async () => {
    await anvil?.stop();
    await networks?.stop();
  });

  /** All transactions of the chain, by hash. */
  async function rawTransactions(headNumber: number): Promise<ReadonlyMap<Hex, string>> {
    const raws = new Map<Hex, string>();
    for (let number = 1; number <= headNumber; number++) {
      const block = await node.rpc<{ transactions: readonly Hex[] }>("eth_getBlockByNumber", [
        toHex(number),
        false,
      ]);
      for (const hash of block.transactions)
        raws.set(hash, await node.rpc<string>("eth_getRawTransactionByHash", [hash]));
    }
    return raws;
  }

  it("has the same receipts, and the same logs by contract", async () => {
    expect(hashes.length).toBeGreaterThan(60);
    for (const hash of hashes) {
      await comparison.compare("eth_getTransactionByHash", [hash]);
      await comparison.compare("eth_getTransactionReceipt", [hash]);
    }
    for (const { address } of Object.values(deployment.contracts))
      await comparison.compare("eth_getLogs", [{ fromBlock: "0x0", toBlock: "latest", address }]);
    expect(comparison.unexplained()).toEqual([]);
  });

  it("traces the calls and the state changes of every transaction alike", async () => {
    for (const hash of hashes) {
      await comparison.compare("debug_traceTransaction callTracer withLog", [
        hash,
        { tracer: "callTracer", tracerConfig: { withLog: true } },
      ]);
      await comparison.compare("debug_traceTransaction prestateTracer diffMode", [
        hash,
        { tracer: "prestateTracer", tracerConfig: { diffMode: true } },
      ]);
    }
    expect(comparison.unexplained()).toEqual([]);
  });

  it("answers calls and estimates alike, those that are refused too", async () => {
    for (const attempt of attempts(deployment)) {
      const request = {
        from: attempt.from,
        to: attempt.contract.address,
        data: dataOf(attempt),
        ...(attempt.value !== undefined && { value: toHex(attempt.value) }),
      };
      for (const method of ["eth_call", "eth_estimateGas"])
        await comparison.compare(method, [request, "latest"]);
      await comparison.compare("debug_traceCall callTracer", [request, "latest", { tracer: "callTracer" }]);
    }
    expect(comparison.unexplained()).toEqual([]);
  });

  it("takes and refuses the same raw transactions", async () => {
    const account = accountNamed("holder");
    const nonce = await networks.home.reader.getTransactionCount(account);
    const balance = await networks.home.reader.getBalance(account);
    for (const [form, raw] of await rawAttempts(account, nonce, balance))
      await comparison.compare(`eth_sendRawTransaction${form}`, [raw]);
    expect(comparison.unexplained()).toEqual([]);
  });
});

/** Raw transactions of an account that has sent `nonce` transactions, with what distinguishes them in the tables. */
async function rawAttempts(
  account: PrivateKeyAccount,
  nonce: number,
  balance: bigint,
): Promise<readonly (readonly [form: string, raw: Hex])[]> {
  const usual: TransactionSerializableEIP1559 = {
    ...{ type: "eip1559", chainId: 1337, nonce, to: account.address, value: 1n, gas: 21_000n },
    ...{ maxFeePerGas: 10n ** 9n, maxPriorityFeePerGas: 10n ** 9n },
  };
  const tooLongCreation = { to: null, gas: 5_000_000n, data: toHex(new Uint8Array(49_153)) };
  const forms: readonly (readonly [string, Partial<TransactionSerializableEIP1559>])[] = [
    ["", { nonce: nonce - 1 }],
    ["", { value: balance }],
    ["", { gas: 20_999n }],
    ["", { gas: 400_000_001n }],
    ["", { chainId: 7171 }],
    ["", tooLongCreation],
    ["", { nonce: nonce + 2 }],
    ["", {}],
    ["", {}],
    [" again, at the same price", { value: 2n }],
    [" with too little gas for its data", { nonce: nonce + 3, data: "0x01" }],
  ];
  return Promise.all(
    forms.map(
      async ([form, change]) => [form, await account.signTransaction({ ...usual, ...change })] as const,
    ),
  );
}

/** One transaction of most kinds, and some that fail in their block. */
async function useApplications(deployment: Deployment): Promise<void> {
  const { home, actors, contracts, baseContracts, bridgeValidators } = deployment;
  const { exchangeToken, wrapped, wrappedStable, router, nativeStaking, shortLocker, bridge } = contracts;
  const { provider, trader, staker, holder, bridger, relayer } = actors;
  const path = [exchangeToken.address, wrapped.address];
  const approve = (token: Contract, spender: Contract) => call(token, "approve", spender.address, NEVER);
  const provision = (other: Contract, desired: bigint, otherDesired: bigint) =>
    call(
      router,
      "addLiquidity",
      {
        ...{ token: exchangeToken.address, other: other.address, desired, otherDesired },
        ...{ least: 0n, otherLeast: 0n },
      },
      provider.address,
      NEVER,
    );
  const refusedBy = (actor: Actor, ...calls: readonly Call[]) => Promise.all(calls.map(actor.sendRefused));
  await Promise.all([
    provider.sendAll([
      { ...call(wrapped, "deposit"), value: parseEther("50") },
      ...[exchangeToken, wrapped, wrappedStable].map((token) => approve(token, router)),
      provision(wrapped, parseEther("60"), parseEther("30")),
      provision(wrappedStable, parseEther("100"), 50_000_000n),
    ]),
    staker.sendAll([
      { ...call(wrapped, "deposit"), value: parseEther("9") },
      approve(wrapped, nativeStaking),
      call(nativeStaking, "stake", parseEther("4")),
      call(nativeStaking, "stake", parseEther("5")),
    ]),
    bridger.sendAll([approve(baseContracts.project, baseContracts.bridge), approve(wrappedStable, bridge)]),
  ]);
  const [sent] = await Promise.all([
    bridger.send(
      call(baseContracts.bridge, "send", baseContracts.project.address, 10n ** 18n + 1n, holder.address),
    ),
    trader.sendAll([
      approve(exchangeToken, router),
      call(router, "swapExactIn", parseEther("1"), 0n, path, trader.address, NEVER),
      call(router, "swapExactOut", 10n ** 15n, NEVER, path, trader.address, NEVER),
      {
        ...call(router, "swapExactNativeIn", 0n, [...path].reverse(), trader.address, NEVER),
        value: 10n ** 17n,
      },
      call(router, "swapExactInForNative", 10n ** 17n, 0n, path, trader.address, NEVER),
    ]),
    staker.sendAll([call(nativeStaking, "emergencyWithdraw")]),
    holder.sendAll([
      { ...call(wrapped, "deposit"), value: parseEther("1") },
      approve(wrapped, shortLocker),
      call(shortLocker, "lock", wrapped.address, 10n ** 17n, 4_000_000_000n),
      { ...call(bridge, "send", NATIVE, 10n ** 17n, holder.address), value: 10n ** 17n },
    ]),
  ]);
  const source = { client: home, bridge: baseContracts.bridge };
  const passage = await passageIn(sent, source);
  const destination = { client: home, bridge };
  const signatures = await prove(passage, destination, bridgeValidators.slice(0, BRIDGE_THRESHOLD));
  await relayer.send(delivery(destination, passage, signatures));
  await Promise.all([
    refusedBy(relayer, delivery(destination, passage, signatures), delivery(destination, passage, [])),
    refusedBy(
      trader,
      call(router, "swapExactIn", parseEther("1"), NEVER, path, trader.address, NEVER),
      call(router, "swapExactIn", parseEther("1"), 0n, path, trader.address, 1n),
      { ...call(router, "swapExactIn", parseEther("1"), 0n, path, trader.address, NEVER), gas: 60_000n },
    ),
    refusedBy(holder, call(shortLocker, "unlock", 0n), call(bridge, "pause")),
    refusedBy(staker, call(nativeStaking, "withdraw", 1n), call(wrapped, "withdraw", parseEther("1000"))),
  ]);
}

/** Calls that pass, and calls that are refused with errors of every form. */
function attempts({ actors, contracts, owner, baseContracts }: Deployment): readonly Attempt[] {
  const { exchangeToken, wrapped, router, nativeStaking, shortLocker, bridge, farm, nativePool } = contracts;
  const { trader, staker, holder } = actors;
  const path = [exchangeToken.address, wrapped.address];
  const by = (actor: Actor, ...parts: Parameters<typeof call>): Attempt => ({
    ...call(...parts),
    from: actor.address,
  });
  return [
    by(trader, router, "swapExactIn", 10n ** 15n, 0n, path, trader.address, NEVER),
    by(trader, router, "quoteOut", 10n ** 15n, path),
    by(trader, router, "swapExactIn", 10n ** 15n, NEVER, path, trader.address, NEVER),
    by(trader, router, "swapExactIn", 10n ** 15n, 0n, path, trader.address, 1n),
    by(
      trader,
      router,
      "swapExactIn",
      10n ** 15n,
      0n,
      [wrapped.address, nativePool.address],
      trader.address,
      NEVER,
    ),
    by(trader, router, "swapExactIn", 10n ** 15n, 0n, [], trader.address, NEVER),
    by(trader, router, "swapExactInForNative", 10n ** 15n, 0n, [], trader.address, NEVER),
    by(holder, router, "swapExactIn", 10n ** 30n, 0n, path, trader.address, NEVER),
    { ...by(trader, bridge, "send", NATIVE, 10n ** 15n, holder.address), value: 10n ** 15n },
    { ...by(trader, bridge, "send", NATIVE, 10n ** 15n, holder.address), value: 1n },
    by(trader, bridge, "send", baseContracts.project.address, 1n, holder.address),
    by(trader, bridge, "send", NATIVE, 1n, holder.address),
    by(trader, bridge, "pause"),
    by(owner, bridge, "pause"),
    by(owner, bridge, "unpause"),
    by(staker, nativeStaking, "stake", 1n),
    by(staker, nativeStaking, "withdraw", 1n),
    by(staker, nativeStaking, "fundReserve", 0n),
    by(holder, shortLocker, "unlock", 0n),
    by(trader, shortLocker, "unlock", 0n),
    by(holder, shortLocker, "extend", 0n, 5_000_000_000n),
    by(holder, shortLocker, "locks", 9n),
    by(holder, farm, "claim", 7n),
    by(holder, farm, "plots", 7n),
    by(holder, nativePool, "swap", 1n, 0n, holder.address),
    by(holder, wrapped, "withdraw", 10n ** 16n),
    by(holder, wrapped, "withdraw", 10n ** 30n),
    by(holder, wrapped, "transfer", NATIVE, 1n),
    { ...by(holder, wrapped, "transfer", trader.address, 1n), value: 1n },
  ];
}

import { describe, expect, it } from "vitest";
import { VoteProposals } from "../../../src/consensus/voteProposals.ts";
import { packCriteria } from "../../../src/logs/packedCriteria.ts";
import { silentLogger } from "../../../src/observability/logger.ts";
import { ZERO_ADDRESS } from "../../../src/primitives/address.ts";
import { ZERO_HASH } from "../../../src/primitives/hash.ts";
import type { Requester } from "../../../src/primitives/requester.ts";
import { fail, ok } from "../../../src/primitives/result.ts";
import type { Core } from "../../../src/rpc/core/core.ts";
import { CORE_CALLS } from "../../../src/rpc/core/coreCalls.ts";
import type { CoreParts, RpcAllowlist } from "../../../src/rpc/core/coreParts.ts";
import { unpackTransactions } from "../../../src/rpc/core/packedTransactions.ts";
import { packLogFilter } from "../../../src/rpc/filters/packedLogFilter.ts";
import { AdmissionQueue } from "../../../src/txpool/admissionQueue.ts";
import type { TxPool } from "../../../src/txpool/txPool.ts";
import { encodeBlock } from "../../../src/types/block.ts";
import { BlockRemoved } from "../../../src/types/blockRemoved.ts";
import type { SentTransaction } from "../../../src/types/transaction.ts";
import {
  aCore,
  aMiner,
  aQuietNetwork,
  poolOf,
  QUIET_CONSENSUS,
  QUIET_NODE,
} from "../../builders/anRpcBackend.ts";
import { aPool } from "../../builders/aPool.ts";
import { aRemoteCore } from "../../builders/aRemoteCore.ts";
import { aStoredBlock } from "../../builders/aStoredBlock.ts";
import { aTransaction } from "../../builders/aTransaction.ts";
import { recoverSignersHere } from "../../builders/recoverSignersHere.ts";
import { account } from "../../builders/testAccounts.ts";
import { toyAddress } from "../../builders/toyChain.ts";

const CALLER: Requester = { client: {}, remoteHost: "198.51.100.7", isAbandoned: () => false };
const SENDER = account(0).address;

/** What both kinds of core promise, wherever the caller is. */
describe.each([
  [
    "on the main thread",
    (parts: Partial<CoreParts>, queue?: AdmissionQueue): Core =>
      aCore({ ...parts, ...(queue !== undefined && { submit: (raw) => queue.submit(raw) }) }),
  ],
  [
    "on a thread for callers",
    (parts: Partial<CoreParts>, queue?: AdmissionQueue): Core =>
      aRemoteCore(aCore(parts), silentLogger, queue).core,
  ],
])("the core %s", (_place, coreOf) => {
  it("has every call of the table, and no other", () => {
    const core = coreOf({});
    const calls = Object.entries(core).flatMap(([group, members]) =>
      Object.keys(members as object).map((name) => `${group}.${name}`),
    );
    expect(calls.toSorted()).toEqual([...Object.keys(CORE_CALLS), "pool.submit"].toSorted());
  });

  it("adds raw transactions to the pool in their order, and tells the hash, or why one was not added", async () => {
    const added: SentTransaction[] = [];
    const pool = aPool().pool;
    const add: TxPool["add"] = (transaction, origin) => {
      added.push(transaction);
      return pool.add(transaction, origin);
    };
    const queue = new AdmissionQueue({ add, screen: (...one) => pool.screen(...one) }, recoverSignersHere);
    const { pool: calls } = coreOf({}, queue);
    const first = aTransaction({ nonce: 0n });
    const second = aTransaction({ type: 2, nonce: 1n, data: new Uint8Array(200) });
    const unsigned = aTransaction({ changeSignature: (signature) => ({ ...signature, r: 5n }) });
    const raws = [first, second, unsigned, first].map(({ raw }) => raw);
    const impossibleV = aTransaction({ chainId: undefined }).raw.with(-67, 29);
    raws.push(Uint8Array.of(0xc0), Uint8Array.of(5), Uint8Array.of(3, 0xc0), impossibleV);
    const answers = await Promise.all(raws.map((raw) => calls.submit(raw, CALLER)));
    expect(answers.map((answer) => (answer.ok ? answer.value : answer.error.code))).toEqual([
      first.hash,
      second.hash,
      "invalidSignature",
      "knownTransaction",
      "malformedTransaction",
      "unknownTransactionType",
      "malformedTransaction",
      "unsupportedV",
    ]);
    expect(answers.at(-1)).toMatchObject({
      error: { message: "An unsupported encoded `v` value of 29 was found" },
    });
    expect(added).toEqual([first, second, first]);
  });

  it("reads the pool: a transaction, nonces, counts, listings by sender, by filter and of entries", async () => {
    const transactions = [aTransaction({ nonce: 1n }), aTransaction({ nonce: 0n })];
    const [second, first] = transactions;
    const { pool } = coreOf({ pool: { ...poolOf(transactions), nextNonce: () => 1n } });
    const hash = first?.hash ?? ZERO_HASH;
    expect([...unpackTransactions(await pool.transaction(hash, CALLER))]).toMatchObject([
      { hash, sender: SENDER, nonce: 0n },
    ]);
    expect(await pool.transaction(ZERO_HASH, CALLER)).toHaveLength(0);
    expect(await pool.nextNonce(SENDER, CALLER)).toBe(1n);
    expect(await pool.statistics(CALLER)).toMatchObject({ pending: 2, queued: 0, local: 2 });
    const { pending, queued } = await pool.bySender(undefined, 1_000_000, CALLER);
    expect([...unpackTransactions(pending.transactions)]).toMatchObject([{ hash }]);
    expect([...unpackTransactions(queued.transactions)]).toMatchObject([{ hash: second?.hash }]);
    expect((await pool.bySender(ZERO_ADDRESS, 1_000_000, CALLER)).pending).toMatchObject({ omitted: 0 });
    expect((await pool.bySender(SENDER, 0, CALLER)).queued).toMatchObject({ omitted: 1, shownBytes: 0 });
    const filter = [{ field: "nonce", operator: "gt", bound: 0n }] as const;
    const matching = await pool.matching(filter, 10, 1_000_000, CALLER);
    if (matching === "tooLarge") throw new Error("two transactions are not too large");
    expect([...unpackTransactions(matching.transactions)]).toMatchObject([{ hash: second?.hash }]);
    expect(await pool.matching([], 10, 10, CALLER)).toBe("tooLarge");
    const entries = await pool.entries(2, CALLER);
    if (entries === "tooMany") throw new Error("two entries are not too many");
    expect([...entries.areLocal]).toEqual([1, 1]);
    expect([...entries.addedAtMs]).toEqual([0, 1]);
    expect(entries.hashes.subarray(32)).toEqual(hash);
    expect(await pool.entries(1, CALLER)).toBe("tooMany");
    const waiting = await pool.waiting({ order: "oldest", after: undefined, limit: 1 }, CALLER);
    expect(waiting).toMatchObject({ items: [{ hash: second?.hash, sender: SENDER, nonce: 1n }], next: 0 });
    const others = await pool.waiting({ order: "oldest", after: waiting.next, limit: 1 }, CALLER);
    expect(others).toMatchObject({ items: [{ hash, reason: "nextBlock" }], next: undefined, pending: 2 });
  });

  it("keeps filters for all connections, and gives them up", async () => {
    const { filters } = coreOf({});
    const criteria = packLogFilter({
      from: "latest",
      to: "latest",
      addresses: [ZERO_ADDRESS],
      topics: ["any"],
    });
    const ids = await Promise.all([
      filters.addLogs(criteria, CALLER),
      filters.addBlocks(CALLER),
      filters.addPending(CALLER),
    ]);
    for (const id of ids)
      expect(await filters.changes(id ?? "", CALLER)).toMatchObject({ kind: "found", pieces: [] });
    expect(await filters.logs(ids[0] ?? "", CALLER)).toMatchObject({ kind: "found" });
    expect(await filters.logs(ids[1] ?? "", CALLER)).toBeUndefined();
    expect(await filters.remove(ids[0] ?? "", CALLER)).toBe(true);
    expect(await filters.changes(ids[0] ?? "", CALLER)).toBeUndefined();
    expect(await filters.remove("0x77", CALLER)).toBe(false);
  });

  it("tells how the node is reached and who its peers are, and maintains peers", async () => {
    const asked: string[] = [];
    const peerToPeer = {
      ...aQuietNetwork(),
      addPeer: async (enode: string) => {
        asked.push(enode);
        return ok(true);
      },
      removePeer: async () => fail("caller", "malformed", "no enode"),
    };
    // As a server, which knows more than its endpoint.
    const services = () => ({ jsonrpc: { host: "127.0.0.1", port: 8545, close: () => undefined } });
    const { network } = coreOf({ network: { peerToPeer, ethVersion: 68, services } });
    expect(await network.info(CALLER)).toMatchObject({
      ethVersion: 68,
      services: { jsonrpc: { host: "127.0.0.1", port: 8545 } },
      peerToPeer: { isListening: true, peerCount: 0 },
    });
    expect(await network.peers(CALLER)).toEqual([]);
    expect(await network.addPeer("enode://a", CALLER)).toMatchObject({ ok: true, value: true });
    expect(await network.removePeer("nothing", CALLER)).toMatchObject({
      ok: false,
      error: { code: "malformed" },
    });
    expect(asked).toEqual(["enode://a"]);
    const { network: none } = coreOf({
      network: { peerToPeer: undefined, ethVersion: 68, services: () => ({}) },
    });
    expect(await none.info(CALLER)).toEqual({ ethVersion: 68, services: {}, peerToPeer: undefined });
    expect(await none.peers(CALLER)).toBe("disabled");
    expect(await none.addPeer("enode://a", CALLER)).toBe("disabled");
    expect(await none.removePeer("enode://a", CALLER)).toBe("disabled");
  });

  it("tells the state of consensus, and takes votes until it has as many as it may", async () => {
    const { consensus } = coreOf({
      consensus: { proposals: new VoteProposals(), status: () => QUIET_CONSENSUS },
    });
    expect(await consensus.status(CALLER)).toEqual(QUIET_CONSENSUS);
    const vote = { recipient: toyAddress(1), kind: "add" } as const;
    expect(await consensus.propose(vote, false, CALLER)).toBe("proposed");
    expect(await consensus.pending(CALLER)).toEqual([vote]);
    await consensus.discard(vote.recipient, CALLER);
    expect(await consensus.pending(CALLER)).toEqual([]);
  });

  it("changes what the operator may change about blocks, and tells it", async () => {
    const mining = aMiner();
    const floors = { minGasPriceWei: 1n, minPriorityFeeWei: 2n };
    const pool = {
      ...poolOf([]),
      blockFloors: floors,
      changeBlockFloors: (to: object) => Object.assign(floors, to),
    };
    const core = coreOf({ mining, pool, isMining: () => false });
    await core.mining.setExtraData(new Uint8Array(32).fill(7), CALLER);
    await core.mining.setTargetGasLimit(30_000_000n, CALLER);
    await core.mining.setPriceFloors({ minGasPriceWei: 5n }, CALLER);
    await core.mining.setCoinbase(toyAddress(1), CALLER);
    await core.mining.stop(CALLER);
    await core.mining.start(CALLER);
    expect(mining.targetGasLimit).toBe(30_000_000n);
    expect(await core.mining.status(CALLER)).toEqual({
      isMining: false,
      coinbase: ZERO_ADDRESS,
      extraData: new Uint8Array(32).fill(7),
      priceFloors: { minGasPriceWei: 5n, minPriorityFeeWei: 2n },
    });
  });

  it("shows and changes allowlists, and says which one is disabled", async () => {
    const accounts: RpcAllowlist = {
      items: ["0x01"],
      add: () => ok(undefined),
      remove: () => fail("caller", "absent", "not there"),
    };
    const { permissions } = coreOf({
      permissions: { accounts, nodes: undefined, reload: () => fail("local", "unreadable", "no file") },
    });
    expect(await permissions.items("accounts", CALLER)).toEqual(["0x01"]);
    expect(await permissions.items("nodes", CALLER)).toBe("disabled");
    expect(await permissions.change("accounts", "add", ["0x02"], CALLER)).toBe("changed");
    expect(await permissions.change("accounts", "remove", ["0x02"], CALLER)).toBe("absent");
    expect(await permissions.change("nodes", "add", [], CALLER)).toBe("disabled");
    expect(await permissions.reload(CALLER)).toBe("notReloaded");
    expect(await coreOf({}).permissions.reload(CALLER)).toBe("disabled");
  });

  it("rewinds and replays blocks that the chain has", async () => {
    const asked: unknown[] = [];
    const { history } = coreOf({
      history: {
        setHead: async (number) => {
          asked.push(number);
          return ok(undefined);
        },
        replayBlock: async () => ok(undefined),
        resyncWorldState: async () => fail("caller", "busy", "another request"),
      },
    });
    expect(await history.setHead("latest", CALLER)).toMatchObject({ ok: true });
    expect(await history.setHead(1n, CALLER)).toBe("unknownBlock");
    expect(await history.setHead(-1n, CALLER)).toBe("unknownBlock");
    expect(await history.replayBlock(0n, CALLER)).toBe("unknownBlock");
    expect(await history.resyncWorldState(CALLER)).toMatchObject({ ok: false, error: { code: "busy" } });
    expect(asked).toEqual([0n]);
  });

  it("writes bloom files anew on request", async () => {
    const { logIndex } = coreOf({});
    expect(await logIndex.status(CALLER)).toEqual({ from: 0n, to: 0n, current: 0n, isIndexing: false });
    expect(await logIndex.generate(0n, 5n, CALLER)).toBe(true);
    expect(await logIndex.remove(0n, 5n, CALLER)).toBeUndefined();
    expect(await logIndex.repair(5n, CALLER)).toBe(true);
  });

  it("tells about the node: its machine, syncing, arrivals, bad blocks and metrics; and changes the log level", async () => {
    const levels: unknown[] = [];
    const bad = aStoredBlock({ number: 3, transactions: [aTransaction()] });
    const arrival = { number: 2n, hash: ZERO_HASH, atMs: 5 };
    const family = { category: "NODE", name: "a", prefix: "", type: "gauge", help: "", samples: [] } as const;
    const sync = { startingBlock: 1n, currentBlock: 2n, highestBlock: 3n };
    const { node } = coreOf({
      syncStatus: () => sync,
      arrivals: { at: (number) => (number === 2n ? arrival : undefined) },
      badBlocks: () => [bad],
      collectMetrics: async () => [family],
      changeLogLevel: (...change) => void levels.push(change),
    });
    expect(await node.info(CALLER)).toEqual(QUIET_NODE);
    expect(await node.syncStatus(CALLER)).toEqual(sync);
    expect(await node.arrivals(3n, 4, CALLER)).toEqual([arrival]);
    const raw = encodeBlock(bad);
    expect(await node.badBlocks(CALLER)).toEqual([{ hash: bad.hash, raw }]);
    expect(await node.badBlock(bad.hash, CALLER)).toEqual(raw);
    expect(await node.badBlock(ZERO_HASH, CALLER)).toBeUndefined();
    expect(await node.metrics(CALLER)).toEqual([family]);
    await node.changeLogLevel("DEBUG", ["chain"], CALLER);
    await node.changeLogLevel("INFO", undefined, CALLER);
    expect(levels).toEqual([
      ["DEBUG", ["chain"]],
      ["INFO", undefined],
    ]);
  });

  it("runs jobs for their requester, and writes a trace to a file where there is room", async () => {
    const asked: string[] = [];
    const pieces = [new Uint8Array([0x7b, 0x7d])];
    const parts: Partial<CoreParts> = {
      simulator: {
        run: async (_job, { remoteHost }) => ({ kind: asked.push(remoteHost) > 0 ? "busy" : "tooLarge" }),
      },
      stateQueries: { query: async () => ({ kind: "stateUnavailable" }) },
      tracer: {
        run: async () => ({ kind: "traced", pieces: pieces.map((piece) => Uint8Array.from(piece)) }),
      },
      findLogs: async () => ({ kind: "tooManyLogs" }),
      writeTrace: async (name, { length }, host) => `${name} ${length} ${host}`,
    };
    const { jobs } = coreOf(parts);
    const call = { kind: "call", call: {}, blockNumber: 1n } as Parameters<Core["jobs"]["simulate"]>[0];
    expect(await jobs.simulate(call, CALLER)).toEqual({ kind: "busy" });
    expect(asked).toEqual([CALLER.remoteHost]);
    const query = { kind: "accounts", blockNumber: 2n, from: ZERO_HASH, limit: 3 } as const;
    expect(await jobs.query(query, CALLER)).toEqual({ kind: "stateUnavailable" });
    const job = { kind: "block", blockNumber: 1n } as const;
    expect(await jobs.trace(job, CALLER)).toEqual({ kind: "traced", pieces });
    expect(await jobs.traceToFile(job, "block_1", CALLER)).toEqual({
      path: `block_1 1 ${CALLER.remoteHost}`,
    });
    const full = coreOf({ ...parts, writeTrace: async () => undefined });
    expect(await full.jobs.traceToFile(job, "block_1", CALLER)).toBe("noRoom");
    const range = { from: 0n, to: 0n };
    expect(await jobs.findLogs(packCriteria({ addresses: [], topics: [] }), range, CALLER)).toEqual({
      kind: "tooManyLogs",
    });
  });

  it("answers for the servers: readiness, log-ins, gifts", async () => {
    const attempt = { name: "alice", password: "secret", remoteHost: "198.51.100.8" };
    const gift = { address: "0x01", remoteHost: "198.51.100.8" };
    const { serving } = coreOf({
      logins: { http: async ({ name }) => ({ token: name }), webSocket: undefined, graphQl: undefined },
      give: async ({ address }) => ({ kind: "given", transactionHash: "0x02", amountWei: BigInt(address) }),
    });
    expect(await serving.readiness("minPeers=2", CALLER)).toEqual(["0 peers, minPeers is 2"]);
    expect(await serving.login("http", attempt, CALLER)).toEqual({ token: "alice" });
    expect(await serving.gift(gift, CALLER)).toEqual({
      kind: "given",
      transactionHash: "0x02",
      amountWei: 1n,
    });
    expect(await serving.descriptor("http", CALLER)).toBeUndefined();
    await expect(serving.login("webSocket", attempt, CALLER)).rejects.toThrow();
  });

  it("passes the comforts of the development network on, and rejects where there are none", async () => {
    const asked: unknown[] = [];
    const noting =
      <Answer>(name: string, answer: Answer) =>
      async (...given: readonly unknown[]): Promise<Answer> => {
        asked.push([name, ...given]);
        return answer;
      };
    const { development } = coreOf({
      development: {
        mine: noting("mine", ok(undefined)),
        increaseTime: noting("increaseTime", ok(5n)),
        setTime: noting("setTime", ok(-5n)),
        setNextTimestamp: noting("setNextTimestamp", fail("caller", "timeTooEarly", "too early")),
        nextTimestamp: () => 77n,
        setTimestampInterval: noting("setTimestampInterval", true),
        setGasLimit: noting("setGasLimit", ok(undefined)),
        isAutomatic: true,
        intervalMs: 4000,
        instanceId: new Uint8Array(32).fill(9),
        setAutomatic: noting("setAutomatic", undefined),
        setInterval: noting("setInterval", undefined),
        snapshot: noting("snapshot", ok(1n)),
        revert: noting("revert", ok(false)),
        reorganise: noting("reorganise", ok(undefined)),
        reset: noting("reset", ok(undefined)),
        alter: noting("alter", ok(undefined)),
        load: noting("load", ok(undefined)),
        sendAs: noting("sendAs", ok(ZERO_HASH)),
        pool: {
          drop(hash) {
            asked.push(["drop", hash]);
            return true;
          },
          dropOf: noting("dropOf", undefined),
          dropAll: noting("dropAll", undefined),
        },
      },
    });
    const order = { blocks: 2, timestamp: 7n, spacingSeconds: 3n };
    expect(await development.mine(order, CALLER)).toEqual(ok(undefined));
    expect(await development.increaseTime(5n, CALLER)).toEqual(ok(5n));
    expect(await development.setTime(6n, CALLER)).toEqual(ok(-5n));
    expect(await development.setNextTimestamp(8n, CALLER)).toMatchObject({ error: { code: "timeTooEarly" } });
    expect(await development.nextTimestamp(CALLER)).toBe(77n);
    expect(await development.setTimestampInterval(9n, CALLER)).toBe(true);
    expect(await development.setGasLimit(8000n, CALLER)).toEqual(ok(undefined));
    expect(await development.isAutomatic(CALLER)).toBe(true);
    expect(await development.intervalMs(CALLER)).toBe(4000);
    expect(await development.instanceId(CALLER)).toEqual(new Uint8Array(32).fill(9));
    await development.setAutomatic(false, CALLER);
    await development.setInterval({ least: 1, most: 2 }, undefined, CALLER);
    expect(await development.snapshot(CALLER)).toEqual(ok(1n));
    expect(await development.revert(1n, CALLER)).toEqual(ok(false));
    const reorganisation = { depth: 2n, blocks: [[{ raw: Uint8Array.of(3), impersonated: SENDER }], []] };
    expect(await development.reorganise(reorganisation, CALLER)).toEqual(ok(undefined));
    await development.reset(CALLER);
    const balance = { kind: "balance", address: SENDER, balanceWei: 1n } as const;
    await development.alter([balance], CALLER);
    expect(await development.load(Uint8Array.of(4), CALLER)).toEqual(ok(undefined));
    expect(await development.sendAs(Uint8Array.of(1), SENDER, CALLER)).toEqual(ok(ZERO_HASH));
    expect(await development.drop(ZERO_HASH, CALLER)).toBe(true);
    await development.dropOf(SENDER, CALLER);
    await development.dropAll(CALLER);
    expect(asked).toEqual([
      ["mine", order],
      ["increaseTime", 5n],
      ["setTime", 6n],
      ["setNextTimestamp", 8n],
      ["setTimestampInterval", 9n],
      ["setGasLimit", 8000n],
      ["setAutomatic", false],
      ["setInterval", { least: 1, most: 2 }, undefined],
      ["snapshot"],
      ["revert", 1n],
      ["reorganise", reorganisation],
      ["reset"],
      ["alter", [balance]],
      ["load", Uint8Array.of(4)],
      ["sendAs", Uint8Array.of(1), SENDER],
      ["drop", ZERO_HASH],
      ["dropOf", SENDER],
      ["dropAll"],
    ]);
    await expect(coreOf({ development: undefined }).development.snapshot(CALLER)).rejects.toThrow();
  });

  it("passes what the development network's accounts are to do on, and rejects where there are none", async () => {
    const asked: unknown[] = [];
    const sent = { hash: ZERO_HASH, isMinedUnasked: true };
    const { wallet } = coreOf({
      wallet: {
        async send(from, transaction) {
          asked.push([from, transaction]);
          return ok(sent);
        },
        sign(from, transaction) {
          asked.push(["sign", from, transaction]);
          return ok({ raw: Uint8Array.of(4), impersonated: from });
        },
        impersonate: () => true,
        stopImpersonating: () => false,
        impersonateAll: (isWanted) => void asked.push(isWanted),
      },
    });
    const transaction = {
      ...({ type: 2, chainId: 1n, nonce: undefined, maxFeePerGas: 2n, maxPriorityFeePerGas: 1n } as const),
      ...{ gasLimit: 21_000n, to: SENDER, value: 1n, data: Uint8Array.of(1) },
      ...{ accessList: [], authorizationList: [] },
    };
    expect(await wallet.send(SENDER, transaction, CALLER)).toEqual(ok(sent));
    expect(await wallet.impersonate(SENDER, CALLER)).toBe(true);
    expect(await wallet.stopImpersonating(SENDER, CALLER)).toBe(false);
    await wallet.impersonateAll(true, CALLER);
    expect(asked).toEqual([[SENDER, transaction], true]);
    await expect(coreOf({ wallet: undefined }).wallet.impersonate(SENDER, CALLER)).rejects.toThrow();
  });

  it("rejects when what a call reads was removed meanwhile", async () => {
    const { filters } = coreOf({ findLogs: () => Promise.reject(new BlockRemoved(7n)) });
    const criteria = packLogFilter({ from: 0n, to: "latest", addresses: [], topics: [] });
    const id = await filters.addLogs(criteria, CALLER);
    await expect(filters.logs(id ?? "", CALLER)).rejects.toThrow(BlockRemoved);
  });
});

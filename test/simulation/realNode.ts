import type { Chain } from "../../src/chain/createChain.ts";
import { createNextBlockView } from "../../src/chain/nextBlockView.ts";
import type { HeadChange } from "../../src/chain/onNewHead.ts";
import { connectConsensus, startConsensus } from "../../src/consensus/chainAdapter.ts";
import type { Engine } from "../../src/consensus/engine.ts";
import { judgeLostEnd } from "../../src/consensus/lostEnd.ts";
import { SignedTimes } from "../../src/consensus/monitor/signedTimes.ts";
import { Participation } from "../../src/consensus/participation.ts";
import { PauseReasons } from "../../src/consensus/pauseReasons.ts";
import { createConsensusMessages } from "../../src/consensus/transport.ts";
import { decodeLastSigned, encodeLastSigned } from "../../src/ibft/lastSigned.ts";
import { forgottenAt } from "../../src/ibft/lostVotes.ts";
import type { SignedMessage } from "../../src/ibft/message.ts";
import { createIbfTransport } from "../../src/network/ibf/protocol.ts";
import type { SubProtocol } from "../../src/network/subProtocol.ts";
import type { NodeKey } from "../../src/node/keys/nodeKey.ts";
import { Peering } from "../../src/node/peers/peering.ts";
import type { Logger } from "../../src/observability/logger.ts";
import type { Clock } from "../../src/primitives/clock.ts";
import { DEFAULT_TX_POOL_LIMITS } from "../../src/txpool/limits.ts";
import { TxPool } from "../../src/txpool/txPool.ts";
import { aChain } from "../builders/aChain.ts";
import type { ForgetfulDisk } from "../builders/forgetfulDisk.ts";
import { recoverSignersHere } from "../builders/recoverSignersHere.ts";
import type { Agenda } from "./agenda.ts";
import type { Random } from "./random.ts";

/**
 * A node without sockets and servers, assembled as in node.ts: chain, executor, pool, consensus with its
 * relays, eth and sync, on a disk that loses unsynced writes. It can be restarted any number of times.
 */
export interface RealNode {
  readonly index: number;
  readonly key: NodeKey;
  /** Undefined while it is down. */
  readonly running: RunningNode | undefined;
  readonly protocols: readonly SubProtocol[] | undefined;
  boot(): Promise<void>;
  /** Ends the process, or cuts the power: pending writes are lost, in whole or in part. */
  cutPower(): void;
  /** Ends the process, and has the database lose its last blocks, where its votes reach above what is left. */
  loseEnd(blocks: number): boolean;
  /** Stops as by SIGTERM, after pending work. */
  stop(): Promise<void>;
  setClock(skewMs: number): void;
  /** The newest lines of its log. */
  readonly log: readonly string[];
}

export interface RunningNode {
  readonly chain: Chain;
  readonly pool: TxPool;
  readonly engine: Engine;
  readonly peering: Peering;
  readonly disk: ForgetfulDisk;
  /** It started with a database that had lost its end. */
  readonly isRestoring: boolean;
}

export interface RealNodeParts {
  readonly agenda: Agenda;
  readonly random: Random;
  readonly genesis: string;
  readonly disk: ForgetfulDisk;
  /** The clock time of the agenda's zero. */
  readonly startMs: number;
  onSaid(message: SignedMessage): void;
  onHeadChanged(node: RealNode, change: HeadChange): void;
  /** Called with log lines that a healthy node never writes. */
  onFault(node: RealNode, what: string): void;
  onGone(node: RealNode): void;
  /** Called when it pauses to catch up. */
  onPaused(): void;
  /** For sabotage: starts without its vote log. */
  readonly forgetsVotes: boolean;
}

const NETWORK_ID = 1337n;
const LOG_LINES = 14;

export function createRealNode(index: number, key: NodeKey, parts: RealNodeParts): RealNode {
  const { agenda, random, startMs } = parts;
  const log: string[] = [];
  let disk = parts.disk;
  let running: RunningNode | undefined;
  /** Incremented at every end, so that callbacks of earlier runs are recognised. */
  let ends = 0;
  let skewMs = 0;

  function clockOfThisRun(): Clock {
    const startedAfter = ends;
    return {
      nowMs: () => startMs + agenda.nowMs + skewMs,
      at(atMs, action) {
        let isCancelled = false;
        agenda.plan(Math.ceil(atMs - startMs - skewMs), () => {
          if (!isCancelled && ends === startedAfter) action();
        });
        return {
          cancel() {
            isCancelled = true;
          },
        };
      },
    };
  }

  function loggerOfThisRun(): Logger {
    const startedAfter = ends;
    const note = (level: string) => (facts: object, message: string) => {
      if (ends !== startedAfter) return;
      log.push(`${(agenda.nowMs / 1000).toFixed(3)} ${level} ${message}`);
      if (log.length > LOG_LINES) log.shift();
      if (level === "error" || reportsEquivocation(message, facts))
        parts.onFault(node, `${message} ${describeFacts(facts)}`);
    };
    const logger: Logger = {
      error: note("error"),
      warn: note("warn"),
      info: note("info"),
      debug: () => undefined,
      trace: () => undefined,
      often: () => undefined,
      isEnabled: () => true,
      child: () => logger,
    };
    return logger;
  }

  async function open(): Promise<RunningNode> {
    const startedAfter = ends;
    const clock = clockOfThisRun();
    const logger = loggerOfThisRun();
    const { database, markerFile, voteLog } = disk;
    const { chain, spec, world, lost } = await aChain({
      genesis: parts.genesis,
      database,
      markerFile,
      judgeLostEnd: (end) =>
        judgeLostEnd(end, {
          addresses: [key.address],
          readVotes: async () => voteLog.read(),
          hasPeers: true,
          logger,
        }),
      clock,
      builder: key.address,
      logger,
    });
    const pool = new TxPool(DEFAULT_TX_POOL_LIMITS, {
      chain: createNextBlockView(spec, chain, world.head, clock),
      clock,
    });
    chain.onHeadChanged("pool", (change) => pool.headChanged(change));
    const signedTimes = new SignedTimes(clock.nowMs);
    const messages = createConsensusMessages({
      spec,
      self: key.address,
      hasOtherNodeKey: false,
      pool,
      openIbf: createIbfTransport,
      engine: () => engine,
      clock,
      signedTimes,
      logger,
    });
    const engine = connectConsensus({
      spec,
      chain,
      pool,
      validator: key,
      outbox: {
        ...messages.outbox,
        multicast(message, validators) {
          if (ends !== startedAfter) return;
          parts.onSaid(message);
          messages.outbox.multicast(message, validators);
        },
      },
      voteLog: parts.forgetsVotes ? { ...voteLog, read: () => forgottenAfter(chain) } : voteLog,
      clock,
      signedTimes,
      logger,
      onFailure(error) {
        if (ends === startedAfter) parts.onFault(node, `consensus has failed: ${String(error)}`);
      },
      onBlockStarted: () => undefined,
    });
    chain.onHeadChanged("blockLog", (change) => {
      if (ends === startedAfter) parts.onHeadChanged(node, change);
    });
    const holds = new PauseReasons({
      pause() {
        parts.onPaused();
        engine.pause();
      },
      resume: engine.resume,
    });
    const peering = new Peering({
      settings: { chainSpec: spec, networkId: NETWORK_ID },
      key,
      validator: key,
      lost,
      chain,
      txPool: { pool, askContract: undefined },
      recoverSigners: recoverSignersHere,
      consensus: {
        messages,
        participate: (sync) =>
          new Participation({
            ...{ sync, engine, pauseReasons: holds, clock, logger },
            schedule: spec.ibft,
            hasOtherNodeKey: false,
          }),
      },
      clock,
      logger,
      metrics: undefined,
      chance: random.next,
    });
    return { chain, pool, engine, peering, disk, isRestoring: lost !== undefined };
  }

  function gone(losing = 0): void {
    ends += 1;
    running = undefined;
    disk = disk.powerCut(losing);
    parts.onGone(node);
  }

  const node: RealNode = {
    index,
    key,
    get running() {
      return running;
    },
    get protocols() {
      return running?.peering.protocols;
    },
    async boot() {
      if (running !== undefined) return;
      const opened = await open();
      const begun = startConsensus(opened.engine, opened.chain, "votes.log");
      if (!begun.ok) parts.onFault(node, begun.error.message);
      running = opened;
      opened.peering.begin();
    },
    cutPower() {
      log.push(`${(agenda.nowMs / 1000).toFixed(3)} POWER CUT`);
      gone();
    },
    loseEnd(blocks) {
      const head = running?.chain.head.header.number ?? 0n;
      const record = decodeLastSigned(disk.voteLog.read() ?? new Uint8Array());
      if (head <= BigInt(blocks) || !record.ok || record.value.digest === undefined) return false;
      if (record.value.height <= head - BigInt(blocks)) return false;
      log.push(`${(agenda.nowMs / 1000).toFixed(3)} LOSES ${blocks} BLOCKS OF ${head}`);
      gone(blocks);
      return true;
    },
    async stop() {
      const stopping = running;
      if (stopping === undefined) return;
      log.push(`${(agenda.nowMs / 1000).toFixed(3)} STOP`);
      running = undefined;
      parts.onGone(node);
      await stopping.engine.stop();
      await stopping.peering.close();
      gone();
    },
    setClock(to) {
      skewMs = to;
    },
    log,
  };
  return node;
}

function forgottenAfter({ head }: Chain): Uint8Array {
  return encodeLastSigned(forgottenAt(head.header.number + 1n));
}

/** All nodes are honest, but with different clocks a block may seem to come too early. */
function reportsEquivocation(message: string, facts: object): boolean {
  if (message.startsWith("a validator has signed two different blocks in one round")) return true;
  const isEarly = "code" in facts && facts.code === "timestampInFuture";
  return message === "a proposed block is invalid" && !isEarly;
}

function describeFacts(facts: object): string {
  return Object.entries(facts)
    .map(([name, fact]: [string, unknown]) => `${name}=${fact instanceof Error ? fact.stack : String(fact)}`)
    .join(" ");
}

import { availableParallelism, loadavg } from "node:os";
import { type Clock, clockOf, durationClock, systemClock } from "../primitives/clock.ts";
import type { TxPoolLimits } from "../txpool/limits.ts";
import { type MadeUpChain, openMadeUpChain } from "../warmup/madeUpChain.ts";
import { WarmUp } from "../warmup/warmUp.ts";
import { hostLimits } from "./host/hostLimits.ts";
import { processCpuMs, threadTimes } from "./host/threadTimes.ts";
import type { OpenNode } from "./openNode.ts";

/** Fewest cores: on a single one, the warm-up would take the time of what the node has to do. */
const LEAST_CORES = 2;
/** Least memory: compiled code and room for young objects take some 100 MB of it, as a first burst does anyway. */
const LEAST_MEMORY_BYTES = 1024 ** 3;

/**
 * What has the node's code compiled before the first burst; undefined on a small machine. `answerCalls` makes each thread for callers
 * answer so many made-up calls.
 */
export function openWarmUp(node: OpenNode, answerCalls: (count: number) => void): WarmUp | undefined {
  const { settings, logger, clock, openParts, chain, controls, recoverSigners, timing } = node;
  const { pool } = node.txPool;
  const { sync } = node.peering;
  const { memoryBytes = hostLimits().memoryBytes } = settings;
  if (availableParallelism() < LEAST_CORES || memoryBytes < LEAST_MEMORY_BYTES) return undefined;
  const { production } = controls;
  const openWith = (poolLimits: TxPoolLimits, clockOfChain: Clock): Promise<MadeUpChain> =>
    openMadeUpChain({
      ...{ production, recoverSigners, threadTimes, poolLimits },
      cpuMs: processCpuMs,
      spec: settings.chainSpec,
      head: chain.head.header,
      clock: clockOfChain,
    });
  const warmUp = new WarmUp({
    clock: durationClock,
    openChains: () =>
      Promise.all([openWith(settings.pool, clock), openWith({ ...settings.pool }, FAST_CLOCK)]),
    answerCalls,
    isIdle: () =>
      sync.isInSync &&
      !chain.isExecuting &&
      !timing.isCalibrating &&
      pool.statistics.pending === 0 &&
      isMachineIdle(),
    onFault: (error) =>
      logger.debug({ error }, "the node's code could not be compiled ahead of the first burst"),
  });
  const stopListening = [
    pool.onAdded(() => warmUp.stop()),
    // Blocks of a sync, or of other validators with transactions, have the node compile its code by working.
    chain.onHeadChanged("warmUp", ({ added }) => {
      if (added.length > 1 || added.some(({ transactions }) => transactions.length > 0)) warmUp.stop();
    }),
  ];
  openParts.onClose(() => warmUp.stop());
  void warmUp.ended.then(() => {
    for (const stop of stopListening) stop();
  });
  return warmUp;
}

/** Twice as fast as time, so that what yields every ten milliseconds on it yields every five. */
const FAST_CLOCK = clockOf(() => 2 * systemClock.nowMs());

/** Nodes that start side by side, or other programs of the machine, need the cores more. Zero is what Windows says. */
function isMachineIdle(): boolean {
  const [ofLastMinute = 0] = loadavg();
  return ofLastMinute < availableParallelism();
}

import { availableParallelism, type CpuInfo, cpus } from "node:os";

/** Below it, of the time of the processors that this process may use, a machine is called busy. */
const IDLE_SHARE = 0.1;

/** How busy the machine is from now on. */
export class MachineLoad {
  readonly #before = cpus();

  /** Whether the processors had hardly a pause: of those that this process may use, which are taken for the busiest ones. */
  get isBusy(): boolean {
    const shares = cpus()
      .map((one, index) => idleShare(this.#before[index], one))
      .sort((a, b) => a - b)
      .slice(0, availableParallelism());
    return shares.reduce((sum, share) => sum + share, 0) / shares.length < IDLE_SHARE;
  }
}

function idleShare(before: CpuInfo | undefined, after: CpuInfo): number {
  if (before === undefined) return 0;
  const passed = (times: CpuInfo["times"]): number => Object.values(times).reduce((sum, one) => sum + one, 0);
  return (after.times.idle - before.times.idle) / Math.max(1, passed(after.times) - passed(before.times));
}

import { existsSync, readFileSync } from "node:fs";

interface Program {
  readonly child: { readonly pid?: number | undefined };
}

/**
 * The time that some programs have from now on: what passes, without that in which their main threads are kept from a processor.
 * What a program does each second is compared with it, because a busy machine leaves a program less than passes. Where the system
 * does not tell, as only Linux does, it is all that passes.
 */
export class OwnTime {
  readonly #programs: readonly Program[];
  readonly #startedAtMs = performance.now();
  readonly #waitedBeforeMs: number;

  constructor(...programs: readonly Program[]) {
    this.#programs = programs;
    this.#waitedBeforeMs = this.#allWaitedMs();
  }

  /** How long their main threads waited for a processor, all together. */
  get waitedMs(): number {
    return this.#allWaitedMs() - this.#waitedBeforeMs;
  }

  get ms(): number {
    return Math.max(0, performance.now() - this.#startedAtMs - this.waitedMs);
  }

  /** Blocks that come in this time at the least where one is due so often: most of them, because a virtual machine may stand still. */
  leastBlocks(periodMs = 1000): number {
    return Math.floor((0.6 * this.ms) / periodMs) - 1;
  }

  #allWaitedMs(): number {
    return this.#programs.map(waitedForProcessorMs).reduce((sum, one) => sum + one, 0);
  }
}

/** How long the main thread of a running program has waited for a processor since its start. */
export function waitedForProcessorMs({ child: { pid } }: Program): number {
  const file = `/proc/${pid}/task/${pid}/schedstat`;
  return existsSync(file) ? Number(readFileSync(file, "latin1").split(" ")[1]) / 1e6 : 0;
}

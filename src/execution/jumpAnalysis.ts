import type { Common } from "@ethereumjs/common";

/** What the library finds out about code before its first jump: where jumps may lead, and each instruction's entry. */
type Analysis = object;

interface Analyst {
  readonly common: Common;
  _getValidJumpDestinations(code: Uint8Array): Analysis;
}

/** Bytes of code whose analyses are kept; each takes some thirty times its code in memory. */
const KEPT_CODE_BYTES = 2 * 1024 * 1024;

/**
 * Makes the library's interpreter keep its analysis of a contract's code. By itself it analyses the code anew in every
 * call, which for an ERC-20 takes as long as a tenth of the call. Code is known by its byte array: the state keeps one
 * for each contract that is in use. `interpreter` is any one of them; all share what is changed.
 */
export function keepJumpAnalyses(interpreter: object): void {
  const shared = Object.getPrototypeOf(interpreter) as Analyst;
  const analyse = shared._getValidJumpDestinations;
  const analyses = createAnalyses();
  shared._getValidJumpDestinations = function (this: Analyst, code) {
    return analyses.find(this.common, code) ?? analyses.keep(this.common, code, analyse.call(this, code));
  };
}

interface Analyses {
  find(fork: Common, code: Uint8Array): Analysis | undefined;
  keep(fork: Common, code: Uint8Array, analysis: Analysis): Analysis;
}

/** By fork, because the same byte is another instruction in another fork. All are forgotten when they become many. */
function createAnalyses(): Analyses {
  let byFork = new Map<Common, WeakMap<Uint8Array, Analysis>>();
  let keptBytes = 0;
  return {
    find: (fork, code) => byFork.get(fork)?.get(code),
    keep(fork, code, analysis) {
      keptBytes += code.length;
      if (keptBytes > KEPT_CODE_BYTES) {
        byFork = new Map();
        keptBytes = code.length;
      }
      let byCode = byFork.get(fork);
      if (byCode === undefined) {
        byCode = new WeakMap();
        byFork.set(fork, byCode);
      }
      byCode.set(code, analysis);
      return analysis;
    },
  };
}

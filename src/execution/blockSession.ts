import type { Overlay } from "../state/overlay.ts";
import { AccessJournal } from "./accessJournal.ts";
import type { BlockContext } from "./blockContext.ts";
import { type Evm, nothingObserved, type Observed } from "./evm.ts";
import type { ChainTerms } from "./libraryCommon.ts";
import type { Pace } from "./pace.ts";
import { precompileKeys } from "./precompiles/addresses.ts";
import type { Rules } from "./rules.ts";
import type { ExecutionObserver } from "./trace/observer.ts";

/** What the transactions of one block share while they are executed one after another. */
export interface BlockSession {
  readonly terms: ChainTerms;
  readonly rules: Rules;
  readonly block: BlockContext;
  readonly overlay: Overlay;
  readonly accesses: AccessJournal;
  /** Keys of the precompiled contracts in force. */
  readonly precompiles: ReadonlySet<string>;
  /** Every transaction goes through the interpreter, also one that runs no code: somebody watches. */
  readonly isObserved: boolean;
  /** Made on first use: a block of plain transfers needs none. */
  readonly evm: Evm;
}

export interface SessionParts {
  readonly terms: ChainTerms;
  readonly rules: Rules;
  readonly block: BlockContext;
  readonly overlay: Overlay;
  readonly pace: Pace;
  /** For gas estimation. */
  readonly observed?: Observed;
  /** For traces. */
  readonly observer?: ExecutionObserver;
}

export function openSession(parts: SessionParts): BlockSession {
  const { terms, rules, block, overlay } = parts;
  const precompiles = precompileKeys(rules.fork);
  const accesses = new AccessJournal(precompiles);
  let evm: Evm | undefined;
  const session: BlockSession = {
    terms,
    rules,
    block,
    overlay,
    accesses,
    precompiles,
    isObserved: parts.observer !== undefined,
    get evm() {
      if (interpreter === undefined) return onceLoaded(() => session.evm);
      evm ??= interpreter.createEvm({ ...parts, accesses, observed: parts.observed ?? nothingObserved() });
      return evm;
    },
  };
  return session;
}

/**
 * Loads what runs code: some two hundred modules, a quarter of the program, which nobody needs before the first
 * contract runs. Whoever has time for it calls this before.
 */
export async function loadInterpreter(): Promise<void> {
  interpreter ??= await import("./libraryEvm.ts");
}

let interpreter: typeof import("./libraryEvm.ts") | undefined;

function onceLoaded(evm: () => Evm): Evm {
  return {
    async run(message) {
      await loadInterpreter();
      return evm().run(message);
    },
  };
}

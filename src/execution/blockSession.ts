import type { Address } from "../primitives/address.ts";
import { toKey } from "../primitives/hex.ts";
import type { Overlay } from "../state/overlay.ts";
import { AccessJournal } from "./accessJournal.ts";
import type { BlockContext } from "./blockContext.ts";
import { type Evm, nothingObserved, type Observed } from "./evm.ts";
import type { ChainTerms } from "./libraryCommon.ts";
import type { Pace } from "./pace.ts";
import { precompileKeys } from "./precompiles/addresses.ts";
import type { PrecompilePlaces } from "./precompiles/places.ts";
import type { Rules } from "./rules.ts";
import type { ExecutionObserver } from "./trace/observer.ts";

/** What the transactions of one block share while they are executed one after another. */
export interface BlockSession {
  readonly terms: ChainTerms;
  readonly rules: Rules;
  readonly block: BlockContext;
  readonly overlay: Overlay;
  readonly accesses: AccessJournal;
  isPrecompile(address: Address): boolean;
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
  /** What code sees of the block, where that is not what is charged for. */
  readonly shownBlock?: BlockContext;
  /** Where precompiled contracts are, unless they all are where they belong. */
  readonly precompiles?: PrecompilePlaces;
  /** For gas estimation. */
  readonly observed?: Observed;
  /** For traces. */
  readonly observer?: ExecutionObserver;
}

export function openSession(parts: SessionParts): BlockSession {
  const { terms, rules, block, overlay, shownBlock = block } = parts;
  const usual = precompileKeys(rules.fork);
  const places = parts.precompiles;
  // Also those that were moved are warm, where they usually are.
  const accesses = new AccessJournal(usual);
  let evm: Evm | undefined;
  const session: BlockSession = {
    terms,
    rules,
    block,
    overlay,
    accesses,
    isPrecompile:
      places === undefined
        ? (address) => hasLowNumber(address) && usual.has(toKey(address))
        : (address) => places.has(toKey(address)),
    isObserved: parts.observer !== undefined,
    get evm() {
      if (interpreter === undefined) return onceLoaded(() => session.evm);
      const observed = parts.observed ?? nothingObserved();
      evm ??= interpreter.createEvm({ ...parts, block: shownBlock, accesses, observed });
      return evm;
    },
  };
  return session;
}

/** Precompiled contracts have low addresses, so nearly always a look at the first bytes is enough. */
function hasLowNumber(address: Address): boolean {
  for (let at = 0; at < 18; at++) if (address[at] !== 0) return false;
  return true;
}

/**
 * Loads what runs code: some two hundred modules, a quarter of the program, which nobody needs before the first
 * contract runs. Whoever has time for it calls this before.
 */
export async function loadInterpreter(): Promise<void> {
  interpreter ??= await import("./libraryEvm.ts");
}

export function isInterpreterLoaded(): boolean {
  return interpreter !== undefined;
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

import type { Overlay } from "../state/overlay.ts";
import { AccessJournal } from "./accessJournal.ts";
import type { BlockContext } from "./blockContext.ts";
import { type Evm, nothingObserved, type Observed } from "./evm.ts";
import type { ChainTerms } from "./libraryCommon.ts";
import { createEvm, precompileKeys } from "./libraryEvm.ts";
import type { Pace } from "./pace.ts";
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
  const precompiles = precompileKeys(terms, rules);
  const accesses = new AccessJournal(precompiles);
  let evm: Evm | undefined;
  return {
    terms,
    rules,
    block,
    overlay,
    accesses,
    precompiles,
    isObserved: parts.observer !== undefined,
    get evm() {
      evm ??= createEvm({ ...parts, accesses, observed: parts.observed ?? nothingObserved() });
      return evm;
    },
  };
}

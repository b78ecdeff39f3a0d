import type { ForkName } from "../chainspec/forks.ts";
import type { Address } from "../primitives/address.ts";
import { toKey } from "../primitives/byteKey.ts";
import type { Overlay } from "../state/overlay.ts";
import { AccessJournal } from "./accessJournal.ts";
import type { BlockContext } from "./blockContext.ts";
import { type Evm, nothingObserved, type Observed } from "./evm.ts";
import type { ChainConfig } from "./libraryCommon.ts";
import type { ExecutionObserver } from "./observer.ts";
import { hasLowNumber, precompileKeys } from "./precompiles/addresses.ts";
import type { PrecompileOverrides } from "./precompiles/overrides.ts";
import type { Rules } from "./rules.ts";
import type { YieldPolicy } from "./yieldPolicy.ts";

/** What the transactions of one block share while they are executed one after another. */
export interface BlockSession {
  readonly config: ChainConfig;
  readonly rules: Rules;
  readonly block: BlockContext;
  readonly overlay: Overlay;
  readonly accesses: AccessJournal;
  /** Of work that takes long. */
  readonly yieldPolicy: YieldPolicy;
  isPrecompile(address: Address): boolean;
  /** Every transaction goes through the interpreter, also one that runs no code: somebody watches. */
  readonly isObserved: boolean;
  /** Made on first use: a block of plain transfers needs none. */
  readonly evm: Evm;
}

export interface SessionParts {
  readonly config: ChainConfig;
  readonly rules: Rules;
  readonly block: BlockContext;
  readonly overlay: Overlay;
  readonly yieldPolicy: YieldPolicy;
  /** What code sees of the block, where that is not what is charged for. */
  readonly shownBlock?: BlockContext | undefined;
  /** Where precompiled contracts are, unless they all are where they belong. */
  readonly precompiles?: PrecompileOverrides | undefined;
  /** For gas estimation. */
  readonly observed?: Observed | undefined;
  /** For traces. */
  readonly observer?: ExecutionObserver | undefined;
}

export function openSession(parts: SessionParts): BlockSession {
  return new OpenSession(parts);
}

/** A class, because an object with a getter of its own has a shape of its own, and all that use it grow slow. */
class OpenSession implements BlockSession {
  readonly config: ChainConfig;
  readonly rules: Rules;
  readonly block: BlockContext;
  readonly overlay: Overlay;
  readonly accesses: AccessJournal;
  readonly yieldPolicy: YieldPolicy;
  readonly isObserved: boolean;
  private readonly parts: SessionParts;
  private readonly usualPrecompiles: ReadonlySet<string>;
  private machine: Evm | undefined;

  constructor(parts: SessionParts) {
    const { config, rules, block, overlay, yieldPolicy, observer } = parts;
    this.config = config;
    this.rules = rules;
    this.block = block;
    this.overlay = overlay;
    this.yieldPolicy = yieldPolicy;
    this.usualPrecompiles = precompileKeys(rules.fork);
    // Also those that were moved are warm, where they usually are.
    this.accesses = new AccessJournal(this.usualPrecompiles);
    this.isObserved = observer !== undefined;
    this.parts = parts;
  }

  get evm(): Evm {
    if (interpreter === undefined) return onceLoaded(() => this.evm);
    this.machine ??= this.createMachine(interpreter);
    return this.machine;
  }

  isPrecompile(address: Address): boolean {
    const { precompiles } = this.parts;
    if (precompiles !== undefined) return precompiles.has(toKey(address));
    return hasLowNumber(address) && this.usualPrecompiles.has(toKey(address));
  }

  private createMachine({ createEvm }: Interpreter): Evm {
    const { config, rules, overlay, accesses } = this;
    const {
      block,
      shownBlock = block,
      yieldPolicy,
      precompiles,
      observed = nothingObserved(),
      observer,
    } = this.parts;
    return createEvm({
      config,
      rules,
      block: shownBlock,
      overlay,
      accesses,
      yieldPolicy,
      precompiles,
      observed,
      observer,
    });
  }
}

/**
 * Loads what runs code: some two hundred modules, a quarter of the program, which nobody needs before the first
 * contract runs. Whoever has time for it calls this before.
 */
export async function loadInterpreter(): Promise<void> {
  interpreter ??= await import("./libraryEvm.ts");
}

/** Loads what the precompiled contracts of a fork would load on first use, after the interpreter. */
export async function loadPrecompiles(fork: ForkName): Promise<void> {
  const { loadCurves } = await import("./precompiles/precompiles.ts");
  await loadCurves(fork);
}

export function isInterpreterLoaded(): boolean {
  return interpreter !== undefined;
}

type Interpreter = typeof import("./libraryEvm.ts");
let interpreter: Interpreter | undefined;

function onceLoaded(evm: () => Evm): Evm {
  return {
    async run(message) {
      await loadInterpreter();
      return evm().run(message);
    },
  };
}

import type { ForkName } from "../chainspec/forks.ts";
import type { Address } from "../primitives/address.ts";
import { toKey } from "../primitives/byteKey.ts";
import type { Overlay } from "../state/overlay.ts";
import { AccessJournal } from "./accessJournal.ts";
import type { BlockContext } from "./blockContext.ts";
import type { ChainConfig } from "./chainConfig.ts";
import { type Evm, nothingObserved, type Observed } from "./evm.ts";
import type { MessageObserver } from "./messageObserver.ts";
import type { ExecutionObserver } from "./observer.ts";
import { hasLowNumber, precompileKeys } from "./precompiles/addresses.ts";
import type { PrecompileOverrides } from "./precompiles/precompileOverrides.ts";
import type { Rules } from "./rules.ts";
import type { AskPermission } from "./transactionPermission.ts";
import type { YieldPolicy } from "./yieldPolicy.ts";

interface SessionParts {
  readonly config: ChainConfig;
  readonly rules: Rules;
  readonly block: BlockContext;
  readonly overlay: Overlay;
  readonly yieldPolicy: YieldPolicy;
  /** Absent where no contract decides who may send. */
  readonly askPermission?: AskPermission | undefined;
  /** The block that code sees, if it differs from the one that fees are charged by. */
  readonly visibleBlock?: BlockContext | undefined;
  /** Set if any precompiled contract is moved or replaced. */
  readonly precompiles?: PrecompileOverrides | undefined;
  /** Absent if other work reads the overlay after a transaction. */
  readonly isDiscarded?: boolean | undefined;
  /** Collects what gas estimation needs. */
  readonly observed?: Observed | undefined;
  /** Observer of the execution, for traces. */
  readonly observer?: ExecutionObserver | undefined;
  /** Receives calls only; used when there is no observer. */
  readonly messages?: MessageObserver | undefined;
}

/**
 * State shared by the transactions of one block while they are executed one after another.
 *
 * It is a class, because an object literal with a getter has its own hidden class, which makes every use of it slow.
 */
export class BlockSession {
  readonly config: ChainConfig;
  readonly rules: Rules;
  readonly block: BlockContext;
  readonly overlay: Overlay;
  readonly accesses: AccessJournal;
  /** When long work yields. */
  readonly yieldPolicy: YieldPolicy;
  readonly askPermission: AskPermission | undefined;
  /** True with an observer: every transaction then goes through the interpreter, even if it runs no code. */
  readonly isObserved: boolean;
  /** True if nothing reads the overlay after the one transaction; its last changes are then left out. */
  readonly isDiscarded: boolean;
  private readonly parts: SessionParts;
  private readonly defaultPrecompiles: ReadonlySet<string>;
  private ownEvm: Evm | undefined;

  constructor(parts: SessionParts) {
    const { config, rules, block, overlay, yieldPolicy, observer, isDiscarded = false } = parts;
    this.config = config;
    this.rules = rules;
    this.block = block;
    this.overlay = overlay;
    this.yieldPolicy = yieldPolicy;
    this.askPermission = parts.askPermission;
    this.defaultPrecompiles = precompileKeys(rules.fork);
    // A precompiled contract that was moved is still warm at its own address.
    this.accesses = new AccessJournal(this.defaultPrecompiles);
    this.isObserved = observer !== undefined;
    this.isDiscarded = isDiscarded;
    this.parts = parts;
  }

  /** Created on first use: a block of plain transfers needs none. */
  get evm(): Evm {
    if (interpreter === undefined) return onceLoaded(() => this.evm);
    this.ownEvm ??= this.createEvm(interpreter);
    return this.ownEvm;
  }

  isPrecompile(address: Address): boolean {
    const { precompiles } = this.parts;
    if (precompiles !== undefined) return precompiles.has(toKey(address));
    return hasLowNumber(address) && this.defaultPrecompiles.has(toKey(address));
  }

  private createEvm({ createEvm }: Interpreter): Evm {
    const { config, rules, overlay, accesses } = this;
    const {
      block,
      visibleBlock = block,
      yieldPolicy,
      precompiles,
      observed = nothingObserved(),
      observer,
      messages,
    } = this.parts;
    return createEvm({
      config,
      rules,
      block: visibleBlock,
      overlay,
      accesses,
      yieldPolicy,
      precompiles,
      observed,
      observer,
      messages,
    });
  }
}

/**
 * Loads the interpreter and its core, which are not needed before the first contract runs. Called ahead of time by callers
 * that can afford it.
 */
export async function loadInterpreter(): Promise<void> {
  if (interpreter !== undefined) return;
  const { prepareHashes } = await import("./precompiles/hashes.ts");
  await prepareHashes();
  interpreter ??= await import("./interpreter/createEvm.ts");
}

/** Loads what the precompiled contracts of a fork would load on first use. Called after loadInterpreter. */
export async function loadPrecompiles(fork: ForkName): Promise<void> {
  const { loadCurves } = await import("./precompiles/precompiledContracts.ts");
  await loadCurves(fork);
}

/** Makes the next transactions of this thread run on new machines, after an execution failed. */
export function discardMachines(): void {
  interpreter?.discardMachines();
}

export function isInterpreterLoaded(): boolean {
  return interpreter !== undefined;
}

type Interpreter = typeof import("./interpreter/createEvm.ts");
let interpreter: Interpreter | undefined;

function onceLoaded(evm: () => Evm): Evm {
  return {
    async run(message) {
      await loadInterpreter();
      return evm().run(message);
    },
  };
}

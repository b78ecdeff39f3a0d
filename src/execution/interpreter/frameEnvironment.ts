import type { EVM, Log } from "@ethereumjs/evm";
import type { Account as LibraryAccount, Address as LibraryAddress } from "@ethereumjs/util";
import type { Hash } from "../../primitives/hash.ts";
import type { Overlay } from "../../state/overlay.ts";
import type { AccessJournal } from "../accessJournal.ts";
import type { Observed } from "../evm.ts";
import type { MemoryBudget } from "../memoryBudget.ts";
import type { YieldPolicy } from "../yieldPolicy.ts";
import type { Substate } from "./substate.ts";

/** The parts of the EVM that a frame uses. */
export interface FrameEvm extends EVM {
  readonly overlay: Overlay;
  readonly accesses: AccessJournal;
  readonly yieldPolicy: YieldPolicy;
  readonly observed: Observed;
  readonly stackLimit: number;
  /** The substate of the current top-level message. */
  readonly substate: Substate;
  /** Absent if gas alone bounds memory. */
  readonly memoryBudget: MemoryBudget | undefined;
  /** Counts memory that stays until the top-level message ends, or the frame fails. */
  keep(bytes: number): void;
  /** True with an observer, which may keep the output of calls. */
  readonly isObserved: boolean;
  /** True if the fork has an instruction with this opcode. */
  isKnown(instruction: number): boolean;
  precompileNumber(address: Uint8Array): number | undefined;
}

/** The environment of a frame's instructions; the names are the library's. */
export interface FrameEnvironment {
  readonly address: LibraryAddress;
  readonly caller: LibraryAddress;
  readonly callData: Uint8Array;
  readonly callValue: bigint;
  readonly code: Uint8Array;
  /** Undefined for init code, which has no known hash. */
  readonly codeHash: Hash | undefined;
  readonly isStatic: boolean;
  readonly isCreate: boolean;
  readonly depth: number;
  readonly gasPrice: bigint;
  readonly origin: LibraryAddress;
  readonly block: unknown;
  contract: LibraryAccount;
  readonly codeAddress: LibraryAddress;
  readonly gasRefund: bigint;
  readonly blobVersionedHashes: readonly `0x${string}`[];
  readonly createdAddresses: Set<string> | undefined;
}

/** The results of a frame; the names are the library's. */
export interface FrameResult {
  readonly logs: Log[];
  returnValue: Uint8Array | undefined;
  readonly selfdestruct: Map<`0x${string}`, `0x${string}`>;
  readonly createdAddresses: Set<`0x${string}`>;
}

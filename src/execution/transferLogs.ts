import { addressFromHex } from "../primitives/address.ts";
import { asHash, type Hash, keccak256 } from "../primitives/hash.ts";
import { bigintToFixedBytes, bytesToBigint } from "../primitives/quantity.ts";
import type { Log } from "../types/log.ts";
import { type Callee, type CalleeEnd, type ExecutionObserver, isCreation, type Step } from "./observer.ts";
import { type SelfdestructTransfer, selfdestructTransferOf } from "./selfdestructTransfer.ts";

type Transfer = Pick<Callee, "from" | "to" | "value">;

/** Represents the native currency as if it were a token (execution-apis, eth_simulateV1). */
const NATIVE_CURRENCY = addressFromHex(`0x${"ee".repeat(20)}`);
const TRANSFER = keccak256(new TextEncoder().encode("Transfer(address,address,uint256)"));

const LOG0 = 0xa0;
const LOG4 = 0xa4;

/** Records transfers of the native currency, and inserts them as logs among the contracts' own. */
export class TransferObserver implements ExecutionObserver {
  /** The transfers, each with the number of contract logs before it; reverted ones are not counted. */
  private transfers: { readonly transfer: Transfer; readonly logsBefore: number }[] = [];
  private logCount = 0;
  /** The counts at the start of each open frame. */
  private readonly frames: { readonly transfers: number; readonly logs: number }[] = [];
  private hasEntered = false;
  /** The transfer of a SELFDESTRUCT that is about to run. */
  private transfer: SelfdestructTransfer | undefined;

  entered(callee: Callee): void {
    this.hasEntered = true;
    this.frames.push({ transfers: this.transfers.length, logs: this.logCount });
    if (callee.kind === "call" || isCreation(callee.kind)) this.record(callee);
  }

  begun(step: Step): void {
    this.transfer = selfdestructTransferOf(step);
  }

  performed({ instruction, halt }: Step): void {
    if (halt !== undefined) return;
    if (instruction >= LOG0 && instruction <= LOG4) this.logCount++;
    if (this.transfer !== undefined) this.record(this.transfer);
  }

  resumed(): void {
    // The callee's events have already been recorded.
  }

  left({ hasReverted, halt }: CalleeEnd): void {
    const before = this.frames.pop();
    if (before === undefined || (!hasReverted && halt === undefined)) return;
    this.transfers.length = before.transfers;
    this.logCount = before.logs;
  }

  /**
   * The logs of a successful message with the transfers inserted; `own` is the message's transfer, for when no code
   * ran.
   */
  logsWith(logs: readonly Log[], own: Transfer): readonly Log[] {
    if (!this.hasEntered) this.record(own);
    const all: Log[] = [];
    let at = 0;
    for (const { transfer, logsBefore } of this.transfers) {
      all.push(...logs.slice(at, logsBefore), logOf(transfer));
      at = logsBefore;
    }
    return [...all, ...logs.slice(at)];
  }

  private record(transfer: Transfer): void {
    if (transfer.value > 0n) this.transfers.push({ transfer, logsBefore: this.logCount });
  }
}

function logOf({ from, to, value }: Transfer): Log {
  const topic = (address: Uint8Array): Hash => asHash(bigintToFixedBytes(bytesToBigint(address), 32));
  return {
    address: NATIVE_CURRENCY,
    topics: [TRANSFER, topic(from), topic(to)],
    data: bigintToFixedBytes(value, 32),
  };
}

import { addressFromHex } from "../primitives/address.ts";
import { asHash, type Hash, keccak256 } from "../primitives/hash.ts";
import { bigintToFixedBytes, bytesToBigint } from "../primitives/quantity.ts";
import type { Log } from "../types/log.ts";
import { type Callee, type CalleeEnd, type ExecutionObserver, isCreation, type Step } from "./observer.ts";
import { type SelfdestructTransfer, selfdestructTransferOf } from "./selfdestructTransfer.ts";

type Transfer = Pick<Callee, "from" | "to" | "value">;

/** Stands for the chain's own coin as if it were a token (execution-apis, eth_simulateV1). */
const COIN = addressFromHex(`0x${"ee".repeat(20)}`);
const TRANSFER = keccak256(new TextEncoder().encode("Transfer(address,address,uint256)"));

const LOG0 = 0xa0;
const LOG4 = 0xa4;

/** Watches for transfers of the chain's own coin, and tells each as a log among those that contracts made. */
export class TransferWatch implements ExecutionObserver {
  /** Each transfer with the number of logs that contracts had made before it, none of which was taken back. */
  private transfers: { readonly transfer: Transfer; readonly logsBefore: number }[] = [];
  private logs = 0;
  /** What there was when each frame under way began. */
  private readonly frames: { readonly transfers: number; readonly logs: number }[] = [];
  private hasEntered = false;
  /** What a self-destruction is about to hand over. */
  private transfer: SelfdestructTransfer | undefined;

  entered(callee: Callee): void {
    this.hasEntered = true;
    this.frames.push({ transfers: this.transfers.length, logs: this.logs });
    if (callee.kind === "call" || isCreation(callee.kind)) this.note(callee);
  }

  begun(step: Step): void {
    this.transfer = selfdestructTransferOf(step);
  }

  performed({ instruction, halt }: Step): void {
    if (halt !== undefined) return;
    if (instruction >= LOG0 && instruction <= LOG4) this.logs++;
    if (this.transfer !== undefined) this.note(this.transfer);
  }

  resumed(): void {
    // The callee has told all.
  }

  left({ hasReverted, halt }: CalleeEnd): void {
    const before = this.frames.pop();
    if (before === undefined || (!hasReverted && halt === undefined)) return;
    this.transfers.length = before.transfers;
    this.logs = before.logs;
  }

  /** The logs of a message that succeeded, with the transfers among them; `own` is the message's, where no code ran. */
  logsWith(logs: readonly Log[], own: Transfer): readonly Log[] {
    if (!this.hasEntered) this.note(own);
    const all: Log[] = [];
    let at = 0;
    for (const { transfer, logsBefore } of this.transfers) {
      all.push(...logs.slice(at, logsBefore), logOf(transfer));
      at = logsBefore;
    }
    return [...all, ...logs.slice(at)];
  }

  private note(transfer: Transfer): void {
    if (transfer.value > 0n) this.transfers.push({ transfer, logsBefore: this.logs });
  }
}

function logOf({ from, to, value }: Transfer): Log {
  const topic = (address: Uint8Array): Hash => asHash(bigintToFixedBytes(bytesToBigint(address), 32));
  return { address: COIN, topics: [TRANSFER, topic(from), topic(to)], data: bigintToFixedBytes(value, 32) };
}

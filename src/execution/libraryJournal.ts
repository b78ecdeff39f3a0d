import type { StateManagerInterface } from "@ethereumjs/common";
import type { Account as LibraryAccount, Address as LibraryAddress } from "@ethereumjs/util";
import { asAddress } from "../primitives/address.ts";
import { hexToBytes } from "../primitives/hex.ts";
import type { Overlay } from "../state/overlay.ts";
import type { AccessJournal } from "./accessJournal.ts";

/**
 * Replaces the library's journal under the interpreter: same methods, on our access journal and overlay, which are
 * checkpointed together. The library's builds nine collections for each call of a contract.
 */
export class LibraryJournal {
  private readonly accesses: AccessJournal;
  private readonly overlay: Overlay;
  private readonly state: StateManagerInterface;
  private depth = 0;

  constructor(accesses: AccessJournal, overlay: Overlay, state: StateManagerInterface) {
    this.accesses = accesses;
    this.overlay = overlay;
    this.state = state;
  }

  putAccount(address: LibraryAddress, account: LibraryAccount | undefined): Promise<void> {
    this.accesses.touch(asAddress(address.bytes));
    return this.state.putAccount(address, account);
  }

  deleteAccount(address: LibraryAddress): Promise<void> {
    this.accesses.touch(asAddress(address.bytes));
    return this.state.deleteAccount(address);
  }

  checkpoint(): void {
    this.depth++;
    this.accesses.checkpoint();
    this.overlay.checkpoint();
  }

  commit(): void {
    this.depth--;
    this.accesses.commit();
    this.overlay.commit();
  }

  revert(): void {
    this.depth--;
    this.accesses.revert();
    this.overlay.revert();
  }

  /** Reverts all open checkpoints, after the interpreter was stopped in the middle. */
  unwind(): void {
    while (this.depth > 0) this.revert();
  }

  addWarmedAddress(address: Uint8Array): void {
    this.accesses.warm(address);
  }

  addAlwaysWarmAddress(address: string): void {
    this.accesses.warm(hexToBytes(address));
  }

  isWarmedAddress(address: Uint8Array): boolean {
    return this.accesses.isWarm(address);
  }

  addWarmedStorage(address: Uint8Array, slot: Uint8Array): void {
    this.accesses.warmSlot(address, slot);
  }

  isWarmedStorage(address: Uint8Array, slot: Uint8Array): boolean {
    return this.accesses.isWarmSlot(address, slot);
  }
}

import type { AccountFields, StateManagerInterface } from "@ethereumjs/common";
import { Account as LibraryAccount, type Address as LibraryAddress } from "@ethereumjs/util";
import { type Address, asAddress } from "../primitives/address.ts";
import { AssertionFailed } from "../primitives/assert.ts";
import { asHash } from "../primitives/hash.ts";
import type { Overlay } from "../state/overlay.ts";
import type { Account } from "../types/account.ts";
import { codeOf } from "./accountCode.ts";

/**
 * Adapts the overlay to the library's interface: asynchronous by signature, though every value is available at once.
 * The interpreter mutates the account objects it gets, so each read returns a new one.
 */
export class LibraryState implements StateManagerInterface {
  readonly originalStorageCache: StateManagerInterface["originalStorageCache"];
  private readonly overlay: Overlay;

  constructor(overlay: Overlay) {
    this.overlay = overlay;
    this.originalStorageCache = {
      get: async (address, slot) => overlay.originalStorage(addressOf(address), slot),
      // Not needed: the overlay tracks where a transaction begins.
      clear: () => undefined,
    };
  }

  async getAccount(address: LibraryAddress): Promise<LibraryAccount | undefined> {
    const account = this.overlay.account(addressOf(address));
    return account === undefined ? undefined : toLibrary(account);
  }

  async putAccount(address: LibraryAddress, account?: LibraryAccount): Promise<void> {
    this.overlay.putAccount(addressOf(address), account === undefined ? undefined : fromLibrary(account));
  }

  async deleteAccount(address: LibraryAddress): Promise<void> {
    this.overlay.putAccount(addressOf(address), undefined);
  }

  async modifyAccountFields(address: LibraryAddress, fields: AccountFields): Promise<void> {
    const account = this.overlay.account(addressOf(address));
    const changed = account === undefined ? new LibraryAccount() : toLibrary(account);
    Object.assign(changed, fields);
    this.overlay.putAccount(addressOf(address), fromLibrary(changed));
  }

  async putCode(address: LibraryAddress, code: Uint8Array): Promise<void> {
    this.overlay.putCode(addressOf(address), code);
  }

  async getCode(address: LibraryAddress): Promise<Uint8Array> {
    return codeOf(this.overlay, addressOf(address));
  }

  async getCodeSize(address: LibraryAddress): Promise<number> {
    const account = this.overlay.account(addressOf(address));
    return account === undefined ? 0 : this.overlay.codeSize(account.codeHash);
  }

  async getStorage(address: LibraryAddress, slot: Uint8Array): Promise<Uint8Array> {
    return this.overlay.storage(addressOf(address), slot);
  }

  async putStorage(address: LibraryAddress, slot: Uint8Array, value: Uint8Array): Promise<void> {
    this.overlay.putStorage(addressOf(address), slot, value);
  }

  async clearStorage(address: LibraryAddress): Promise<void> {
    this.overlay.clearStorage(addressOf(address));
  }

  async checkpoint(): Promise<void> {
    this.overlay.checkpoint();
  }

  async commit(): Promise<void> {
    this.overlay.commit();
  }

  async revert(): Promise<void> {
    this.overlay.revert();
  }

  clearCaches(): void {}

  getStateRoot(): Promise<Uint8Array> {
    throw new AssertionFailed("the interpreter does not use state roots");
  }

  setStateRoot(): Promise<void> {
    throw new AssertionFailed("the interpreter does not use state roots");
  }

  hasStateRoot(): Promise<boolean> {
    throw new AssertionFailed("the interpreter does not use state roots");
  }

  shallowCopy(): StateManagerInterface {
    throw new AssertionFailed("each job has an interpreter of its own");
  }
}

function addressOf(address: LibraryAddress): Address {
  return asAddress(address.bytes);
}

function toLibrary({ nonce, balance, storageRoot, codeHash }: Account): LibraryAccount {
  return new LibraryAccount(nonce, balance, storageRoot, codeHash);
}

function fromLibrary({ nonce, balance, storageRoot, codeHash }: LibraryAccount): Account {
  return { nonce, balance, storageRoot: asHash(storageRoot), codeHash: asHash(codeHash) };
}

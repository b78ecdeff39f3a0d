import type { Message } from "@ethereumjs/evm";
import { Address as LibraryAddress } from "@ethereumjs/util";
import { asAddress } from "../../primitives/address.ts";
import { keccak256 } from "../../primitives/hash.ts";
import { concatBytes } from "../../primitives/hex.ts";
import { bigintToBytes } from "../../primitives/quantity.ts";
import { encodeRlp } from "../../primitives/rlp.ts";
import type { Overlay } from "../../state/overlay.ts";
import { EMPTY_ACCOUNT } from "../../types/account.ts";
import type { YieldPolicy } from "../yieldPolicy.ts";
import { hashInSlices } from "./slices.ts";

/**
 * Derives the addresses of created contracts. The library asks twice for each message, once to warm the address; the
 * second call returns the cached one. Init code for CREATE2 is hashed in slices.
 */
export class ContractAddresses {
  private readonly overlay: Overlay;
  private readonly yieldPolicy: YieldPolicy;
  private last: { readonly message: Message; readonly address: LibraryAddress } | undefined;

  constructor(overlay: Overlay, yieldPolicy: YieldPolicy) {
    this.overlay = overlay;
    this.yieldPolicy = yieldPolicy;
  }

  /** Expects the init code in `message.code`, and the caller's nonce already incremented. */
  async of(message: Message): Promise<LibraryAddress> {
    if (this.last?.message === message) return this.last.address;
    const { salt } = message;
    const hash = salt === undefined ? this.ofNonce(message) : await this.ofCode(message, salt);
    const address = new LibraryAddress(hash.subarray(12));
    this.last = { message, address };
    return address;
  }

  private ofNonce({ caller }: Message): Uint8Array {
    const { nonce } = this.overlay.account(asAddress(caller.bytes)) ?? EMPTY_ACCOUNT;
    return keccak256(encodeRlp([caller.bytes, bigintToBytes(nonce - 1n)]));
  }

  /** EIP-1014. */
  private async ofCode({ caller, code }: Message, salt: Uint8Array): Promise<Uint8Array> {
    const codeHash = await hashInSlices(code as Uint8Array, this.yieldPolicy);
    return keccak256(concatBytes(CREATE2_PREFIX, caller.bytes, salt, codeHash));
  }
}

const CREATE2_PREFIX = Uint8Array.of(0xff);

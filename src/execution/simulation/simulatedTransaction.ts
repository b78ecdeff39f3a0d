import { ZERO_ADDRESS } from "../../primitives/address.ts";
import { keccak256 } from "../../primitives/hash.ts";
import { concatBytes, EMPTY_BYTES } from "../../primitives/hex.ts";
import { bigintToBytes } from "../../primitives/quantity.ts";
import { encodeRlpList, encodeRlpString } from "../../primitives/rlp.ts";
import type { Header } from "../../types/header.ts";
import type { AccessListEntry, Authorization, SentTransaction } from "../../types/transaction.ts";
import { type CallRequest, transactionTypeOf } from "./callRequest.ts";

/** The transaction that a call represents: unsigned, with zeros for the signature. */
export function transactionOfCall(
  call: CallRequest,
  position: {
    readonly nonce: bigint;
    readonly gasLimit: bigint;
    readonly chainId: bigint;
    readonly header: Header;
  },
): SentTransaction {
  const { nonce, gasLimit, chainId, header } = position;
  const { to, value = 0n, data = EMPTY_BYTES } = call;
  const { accessList = [], blobVersionedHashes = [], authorizationList = [] } = call;
  const { gasPrice = 0n, maxFeePerGas = 0n, maxPriorityFeePerGas = 0n, maxFeePerBlobGas = 0n } = call;
  const type = transactionTypeOf(call, header);
  const isFeeMarket = type >= 2;
  const prices = isFeeMarket ? [maxPriorityFeePerGas, maxFeePerGas] : [gasPrice];
  const items = [
    ...(type === 0 ? [] : [number(chainId)]),
    number(nonce),
    ...prices.map(number),
    number(gasLimit),
    encodeRlpString(to ?? EMPTY_BYTES),
    number(value),
    encodeRlpString(data),
    ...(type === 0 ? [] : [encodeAccessList(accessList)]),
    ...(type === 3
      ? [number(maxFeePerBlobGas), encodeRlpList(blobVersionedHashes.map(encodeRlpString))]
      : []),
    ...(type === 4 ? [encodeRlpList(authorizationList.map(encodeAuthorization))] : []),
    ...[0n, 0n, 0n].map(number),
  ];
  const list = encodeRlpList(items);
  const raw = type === 0 ? list : concatBytes(Uint8Array.of(type), list);
  return {
    type,
    ...(type !== 0 && { chainId }),
    nonce,
    ...(isFeeMarket ? { maxFeePerGas, maxPriorityFeePerGas } : { gasPrice }),
    gasLimit,
    ...(to !== undefined && { to }),
    value,
    data,
    accessList: type === 0 ? [] : accessList,
    ...(type === 3 && { maxFeePerBlobGas }),
    blobVersionedHashes,
    authorizationList,
    v: 0n,
    r: 0n,
    s: 0n,
    yParity: 0,
    hasLowS: true,
    raw,
    hash: keccak256(raw),
    sender: call.from ?? ZERO_ADDRESS,
  };
}

function number(value: bigint): Uint8Array {
  return encodeRlpString(bigintToBytes(value));
}

function encodeAccessList(list: readonly AccessListEntry[]): Uint8Array {
  return encodeRlpList(
    list.map(({ address, storageKeys }) =>
      encodeRlpList([encodeRlpString(address), encodeRlpList(storageKeys.map(encodeRlpString))]),
    ),
  );
}

function encodeAuthorization({ chainId, address, nonce, yParity, r, s }: Authorization): Uint8Array {
  return encodeRlpList([
    number(chainId),
    encodeRlpString(address),
    number(nonce),
    number(yParity),
    number(r),
    number(s),
  ]);
}

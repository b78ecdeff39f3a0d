import type { Address } from "../primitives/address.ts";
import type { Transaction } from "../types/transaction.ts";
import { TRANSACTION_GAS } from "../types/transactionCount.ts";
import type { Rules } from "./rules.ts";

/** The fields that determine a transaction's intrinsic gas. */
export interface GasRelevant extends Pick<Transaction, "data" | "accessList" | "authorizationList"> {
  readonly to?: Address | undefined;
}

/** Lowest gas limit of a valid transaction: its intrinsic gas, or the floor for its data if that is higher. */
export function minimumGas(rules: Rules, transaction: GasRelevant): bigint {
  const intrinsic = intrinsicGas(rules, transaction);
  const floor = floorGas(rules, transaction.data);
  if (floor > intrinsic) return floor;
  return intrinsic;
}

/**
 * Gas charged before the first instruction: transaction, data, creation with its init code, access list and
 * authorizations (yellow paper §6.2, EIP-2, EIP-2028, EIP-2930, EIP-3860, EIP-7702).
 */
export function intrinsicGas(rules: Rules, transaction: GasRelevant): bigint {
  const { to, data, accessList, authorizationList } = transaction;
  let gas = data.length === 0 ? TRANSACTION_GAS : TRANSACTION_GAS + dataGas(rules, data);
  if (to === undefined) {
    if (rules.chargesCreation) gas += CREATION_GAS;
    if (rules.initCodeLimitBytes !== undefined) gas += INIT_CODE_WORD_GAS * words(data.length);
  }
  for (const { storageKeys } of accessList)
    gas += ACCESS_LIST_ADDRESS_GAS + ACCESS_LIST_KEY_GAS * BigInt(storageKeys.length);
  return authorizationList.length === 0 ? gas : gas + AUTHORIZATION_GAS * BigInt(authorizationList.length);
}

function dataGas({ nonZeroByteGas }: Rules, data: Uint8Array): bigint {
  const zeros = countZeros(data);
  return BigInt(zeros * ZERO_BYTE_GAS + (data.length - zeros) * nonZeroByteGas);
}

/** Minimum gas charged for a transaction with this data (EIP-7623); zero before Prague. */
export function floorGas(rules: Rules, data: Uint8Array): bigint {
  if (!rules.hasCalldataFloor) return 0n;
  const zeros = countZeros(data);
  return TRANSACTION_GAS + FLOOR_TOKEN_GAS * BigInt(zeros + (data.length - zeros) * TOKENS_PER_NON_ZERO_BYTE);
}

const ZERO_BYTE_GAS = 4;
const CREATION_GAS = 32_000n;
const INIT_CODE_WORD_GAS = 2n;
const ACCESS_LIST_ADDRESS_GAS = 2_400n;
const ACCESS_LIST_KEY_GAS = 1_900n;
/** PER_EMPTY_ACCOUNT_COST of EIP-7702. */
export const AUTHORIZATION_GAS = 25_000n;
const FLOOR_TOKEN_GAS = 10n;
const TOKENS_PER_NON_ZERO_BYTE = 4;

function words(bytes: number): bigint {
  return BigInt(Math.ceil(bytes / 32));
}

/**
 * Counts zeros. Long data is counted once, because its transaction is checked several times on its way from the caller into
 * a block.
 */
function countZeros(data: Uint8Array): number {
  if (data.length < MIN_REMEMBERED_BYTES) return countedZeros(data);
  const known = zerosOfLongData.get(data);
  if (known !== undefined) return known;
  const zeros = countedZeros(data);
  zerosOfLongData.set(data, zeros);
  return zeros;
}

function countedZeros(data: Uint8Array): number {
  let zeros = 0;
  for (let at = 0; at < data.length; at++) if (data[at] === 0) zeros++;
  return zeros;
}

/** Counts live as long as the data, which nobody changes. */
const zerosOfLongData = new WeakMap<Uint8Array, number>();
const MIN_REMEMBERED_BYTES = 4 * 1024;

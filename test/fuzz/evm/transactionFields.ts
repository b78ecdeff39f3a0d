import { type ForkName, isAtLeast } from "../../../src/chainspec/forks.ts";
import { addressFromHex } from "../../../src/primitives/address.ts";
import { toHex } from "../../../src/primitives/hex.ts";
import { anAuthorization } from "../../builders/aTransaction.ts";
import { account } from "../../builders/testAccounts.ts";
import type { Random } from "../../storage/random.ts";
import { chance, pick, weighted, word } from "./draws.ts";
import type { ProgramAccess, ProgramAuthorization, ProgramTransaction } from "./stateTestProgram.ts";

/** Fees and lists of a transaction, which say its type. */

type Fees = Pick<ProgramTransaction, "gasPrice" | "maxFeePerGas" | "maxPriorityFeePerGas">;
type Lists = Pick<
  ProgramTransaction,
  "accessList" | "maxFeePerBlobGas" | "blobVersionedHashes" | "authorizationList"
>;

const wordHex = (value: bigint): string => `0x${value.toString(16).padStart(64, "0")}`;
const addressHex = (value: bigint): string => `0x${value.toString(16).padStart(40, "0")}`;

/** Above the base fee of 7; of the fee market if the type of the transaction has no other. */
export function drawFees(random: Random, fork: ForkName, needsFeeMarket: boolean): Fees {
  if (!(needsFeeMarket || (isAtLeast(fork, "london") && chance(random, 40)))) return { gasPrice: "0xa" };
  return { maxFeePerGas: "0xc", maxPriorityFeePerGas: `0x${random.below(12).toString(16)}` };
}

/** Access list, blobs or authorizations, as the fork has them. */
export function drawLists(
  random: Random,
  fork: ForkName,
  { isCreation, addresses }: { readonly isCreation: boolean; readonly addresses: readonly bigint[] },
): Lists {
  if (!isAtLeast(fork, "berlin")) return {};
  const way = random.below(100);
  const accessList = chance(random, 40) ? { accessList: drawAccessList(random, addresses) } : {};
  if (!isCreation && way < 10 && isAtLeast(fork, "cancun")) return { ...accessList, ...drawBlobs(random) };
  if (!isCreation && way < 50 && isAtLeast(fork, "prague"))
    return { ...accessList, authorizationList: drawAuthorizations(random, addresses) };
  return accessList;
}

function drawAccessList(random: Random, addresses: readonly bigint[]): ProgramAccess[] {
  return Array.from({ length: random.below(4) }, () => ({
    address: addressHex(pick(random, addresses)),
    storageKeys: Array.from({ length: random.below(4) }, () => wordHex(BigInt(random.below(6)))),
  }));
}

function drawBlobs(random: Random) {
  const blobVersionedHashes = Array.from(
    { length: 1 + random.below(6) },
    () => `0x01${toHex(random.bytes(31)).slice(2)}`,
  );
  return { maxFeePerBlobGas: "0x3b9aca00", blobVersionedHashes };
}

function drawAuthorizations(random: Random, addresses: readonly bigint[]): ProgramAuthorization[] {
  return Array.from({ length: 1 + random.below(3) }, () => {
    const signer = pick(random, [0, 5, 6, 7, 8]);
    const { chainId, address, nonce, yParity, r, s } = anAuthorization({
      chainId: weighted(random, [
        [10, 1n],
        [5, 0n],
        [1, 2n],
      ]),
      address: addressFromHex(addressHex(chance(random, 85) ? pick(random, addresses) : 0n)),
      nonce: BigInt(random.below(3)),
      privateKey: account(signer).privateKey,
    });
    const isSpoiled = chance(random, 5);
    return {
      chainId: `0x${chainId.toString(16)}`,
      address: toHex(address),
      nonce: `0x${nonce.toString(16)}`,
      v: `0x${yParity.toString(16)}`,
      r: `0x${(isSpoiled && chance(random, 50) ? word(random) : r).toString(16)}`,
      s: `0x${(isSpoiled ? word(random) : s).toString(16)}`,
    };
  });
}

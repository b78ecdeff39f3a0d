import type { Alteration } from "../../../dev/alteration.ts";
import type { Address } from "../../../primitives/address.ts";
import { bigintToFixedBytes, bytesToBigint } from "../../../primitives/quantity.ts";
import { developmentError } from "../../errors/developmentErrors.ts";
import { invalidParams, RpcError } from "../../errors/errors.ts";
import { type Answer, type ContextOf, defineMethod, required } from "../../method.ts";
import { decodeNumberOrQuantity } from "../../parameters/developmentParameters.ts";
import { decodeData, decodeWholeAddress } from "../../parameters/parameters.ts";
import { ADDRESS, BOOLEAN, GIVEN_DATA, GIVEN_QUANTITY, INTEGER } from "../../schemas.ts";

/**
 * Changes of the state that no transaction makes (development-network.md#altered-states). Hardhat's names answer true, anvil's null, as
 * these two do, except that anvil_setStorageAt answers true, too.
 */

const ACCOUNT = required("address", decodeWholeAddress, ADDRESS);
const NUMBER_SCHEMA = { anyOf: [GIVEN_QUANTITY, INTEGER] };
const BALANCE = required("balanceWei", decodeNumberOrQuantity, NUMBER_SCHEMA);
const NONCE = required("nonce", decodeNonce, NUMBER_SCHEMA);
const CODE = required("code", decodeData, GIVEN_DATA);
const SLOT = required("slot", decodeNumberOrQuantity, NUMBER_SCHEMA);
const VALUE = required("value", decodeData, GIVEN_DATA);
const DONE = { name: "isDone", schema: BOOLEAN };
const NOTHING = { name: "nothing", schema: { type: "null" } };
const PORTS = ["development"] as const;

/** Bytes of an account's code; contracts that were made for unlimited sizes in tests are shorter by far. */
const LONGEST_CODE = 512 * 1024;

export const hardhatSetBalance = defineMethod({
  name: "hardhat_setBalance",
  namespace: "HARDHAT",
  summary: "Sets the balance of an account.",
  parameters: [ACCOUNT, BALANCE],
  result: DONE,
  ports: PORTS,
  run: ([address, balanceWei], context) => alter({ kind: "balance", address, balanceWei }, true, context),
});

export const anvilSetBalance = defineMethod({
  name: "anvil_setBalance",
  aliases: ["tenderly_setBalance"],
  namespace: "ANVIL",
  summary: "Sets the balance of an account.",
  parameters: [ACCOUNT, BALANCE],
  result: NOTHING,
  ports: PORTS,
  run: ([address, balanceWei], context) => alter({ kind: "balance", address, balanceWei }, null, context),
});

export const anvilAddBalance = defineMethod({
  name: "anvil_addBalance",
  aliases: ["hardhat_addBalance", "tenderly_addBalance"],
  namespace: "ANVIL",
  summary: "Adds to the balance of an account.",
  parameters: [ACCOUNT, BALANCE],
  result: NOTHING,
  ports: ["development", "chain"],
  run([address, addedWei], context) {
    const balanceWei = (accountOf(address, context)?.balance ?? 0n) + addedWei;
    if (balanceWei >= 2n ** 256n) return invalidParams("the balance has more than 256 bits");
    return alter({ kind: "balance", address, balanceWei }, null, context);
  },
});

export const hardhatSetNonce = defineMethod({
  name: "hardhat_setNonce",
  namespace: "HARDHAT",
  summary: "Sets the nonce of an account, to no smaller one.",
  parameters: [ACCOUNT, NONCE],
  result: DONE,
  ports: ["development", "chain"],
  run([address, nonce], context) {
    const existing = accountOf(address, context)?.nonce ?? 0n;
    if (nonce < existing)
      return new RpcError(
        -32000,
        `New nonce (${nonce}) must not be smaller than the existing nonce (${existing})`,
      );
    return alter({ kind: "nonce", address, nonce }, true, context);
  },
});

export const anvilSetNonce = defineMethod({
  name: "anvil_setNonce",
  aliases: ["evm_setAccountNonce"],
  namespace: "ANVIL",
  summary: "Sets the nonce of an account.",
  parameters: [ACCOUNT, NONCE],
  result: NOTHING,
  ports: PORTS,
  run: ([address, nonce], context) => alter({ kind: "nonce", address, nonce }, null, context),
});

export const hardhatSetCode = defineMethod({
  name: "hardhat_setCode",
  namespace: "HARDHAT",
  summary: "Sets the code of an account.",
  parameters: [ACCOUNT, CODE],
  result: DONE,
  ports: PORTS,
  run: ([address, code], context) => setCode(address, code, true, context),
});

export const anvilSetCode = defineMethod({
  name: "anvil_setCode",
  namespace: "ANVIL",
  summary: "Sets the code of an account.",
  parameters: [ACCOUNT, CODE],
  result: NOTHING,
  ports: PORTS,
  run: ([address, code], context) => setCode(address, code, null, context),
});

export const hardhatSetStorageAt = defineMethod({
  name: "hardhat_setStorageAt",
  aliases: ["anvil_setStorageAt"],
  namespace: "HARDHAT",
  alsoIn: ["ANVIL"],
  summary: "Sets a storage slot of an account to 32 bytes.",
  parameters: [ACCOUNT, SLOT, VALUE],
  result: DONE,
  ports: PORTS,
  run([address, slot, value], context) {
    if (value.length !== 32)
      return new RpcError(
        -32000,
        `Storage value must be exactly 32 bytes long. Received one that is ${value.length} bytes long.`,
      );
    const slotBytes = bigintToFixedBytes(slot, 32);
    return alter({ kind: "storage", address, slot: slotBytes, value: bytesToBigint(value) }, true, context);
  },
});

function setCode(
  address: Address,
  code: Uint8Array,
  done: true | null,
  context: ContextOf<"development">,
): Answer | Promise<Answer> {
  if (code.length > LONGEST_CODE) return invalidParams(`code has at most ${LONGEST_CODE} bytes`);
  return alter({ kind: "code", address, code }, done, context);
}

async function alter(
  alteration: Alteration,
  done: true | null,
  context: ContextOf<"development">,
): Promise<Answer> {
  const altered = await context.backend.development.alter([alteration], context);
  return altered.ok ? done : developmentError(altered.error);
}

function accountOf(address: Address, { backend: { chain } }: ContextOf<"chain">) {
  return chain.stateAt(chain.head.header.number)?.account(address);
}

/** Below 2^64 - 1, the highest that a transaction could have next (EIP-2681). */
function decodeNonce(value: unknown): bigint | undefined {
  const nonce = decodeNumberOrQuantity(value);
  return nonce === undefined || nonce >= 2n ** 64n - 1n ? undefined : nonce;
}

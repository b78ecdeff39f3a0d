import { SLOT_LENGTH, type TouchedSlots, unpackTouched } from "../../../execution/simulation/callRequest.ts";
import type { Address } from "../../../primitives/address.ts";
import { asHash, type Hash } from "../../../primitives/hash.ts";
import { equalBytes, joinBytes } from "../../../primitives/hex.ts";
import { bigintToBytes, bigintToFixedBytes } from "../../../primitives/quantity.ts";
import { developmentError } from "../../errors/developmentErrors.ts";
import { RpcError } from "../../errors/errors.ts";
import { type Answer, type ContextOf, defineMethod, required } from "../../method.ts";
import { decodeNumberOrQuantity } from "../../parameters/developmentParameters.ts";
import { decodeWholeAddress } from "../../parameters/parameters.ts";
import { ADDRESS, NULL_RESULT, NUMBER_OR_QUANTITY } from "../../schemas.ts";

/**
 * Balances and allowances of tokens, which each contract keeps in slots of its own choice (development-network.md#altered-states). The slot
 * is found by trying: of those that the token reads for its answer, it is the one on which the answer depends.
 */

const TOKEN = required("token", decodeWholeAddress, ADDRESS);
const AMOUNT = required("amount", decodeNumberOrQuantity, NUMBER_OR_QUANTITY);

export const anvilDealErc20 = defineMethod({
  name: "anvil_dealERC20",
  aliases: ["hardhat_dealERC20", "anvil_setERC20Balance"],
  namespace: "ANVIL",
  alsoIn: ["HARDHAT"],
  summary: "Sets what an account has of a token.",
  parameters: [required("address", decodeWholeAddress, ADDRESS), TOKEN, AMOUNT],
  result: NULL_RESULT,
  ports: ["chain", "simulator", "development"],
  mayOverlap: "few",
  run: ([address, token, amount], context) =>
    setAnswer({ token, data: callOf(BALANCE_OF, address), value: amount, what: "balance" }, context),
});

export const anvilSetErc20Allowance = defineMethod({
  name: "anvil_setERC20Allowance",
  namespace: "ANVIL",
  summary: "Sets how much of an owner's tokens a spender may spend.",
  parameters: [
    required("owner", decodeWholeAddress, ADDRESS),
    required("spender", decodeWholeAddress, ADDRESS),
    TOKEN,
    AMOUNT,
  ],
  result: NULL_RESULT,
  ports: ["chain", "simulator", "development"],
  mayOverlap: "few",
  run: ([owner, spender, token, amount], context) =>
    setAnswer({ token, data: callOf(ALLOWANCE, owner, spender), value: amount, what: "allowance" }, context),
});

/** balanceOf(address) and allowance(address,address). */
const BALANCE_OF = Uint8Array.of(0x70, 0xa0, 0x82, 0x31);
const ALLOWANCE = Uint8Array.of(0xdd, 0x62, 0xed, 0x3e);

/** Slots that are tried; a token reads some ten for such an answer. */
const MOST_TRIED = 64;

interface WantedAnswer {
  readonly token: Address;
  /** The call that has it. */
  readonly data: Uint8Array;
  readonly value: bigint;
  readonly what: "balance" | "allowance";
}

type TokenContext = ContextOf<"chain" | "simulator" | "development">;

async function setAnswer(wanted: WantedAnswer, context: TokenContext): Promise<Answer> {
  const address = wanted.token;
  for (const slot of await slotsRead(wanted, context)) {
    if (!(await dependsOn(slot, wanted, context))) continue;
    const altered = await context.backend.development.alter(
      [{ kind: "storage", address, slot, value: wanted.value }],
      context,
    );
    return altered.ok ? null : developmentError(altered.error);
  }
  return new RpcError(-32603, `Unable to set ERC20 ${wanted.what}, no slot found`);
}

/** The token's own slots that it reads for the answer. */
async function slotsRead({ token, data }: WantedAnswer, context: TokenContext): Promise<readonly Hash[]> {
  const { chain, simulator } = context.backend;
  const blockNumber = chain.head.header.number;
  const read = await simulator.run(
    { kind: "createAccessList", call: { to: token, data }, blockNumber },
    context,
  );
  if (read.kind !== "returned") return [];
  const touched = [...unpackTouched(read.accessList)];
  const own = touched.find(({ address }) => equalBytes(address, token));
  return own === undefined ? [] : slotsOf(own);
}

function slotsOf({ slots }: TouchedSlots): readonly Hash[] {
  const count = Math.min(slots.length / SLOT_LENGTH, MOST_TRIED);
  return Array.from({ length: count }, (_, index) =>
    asHash(slots.slice(index * SLOT_LENGTH, (index + 1) * SLOT_LENGTH)),
  );
}

async function dependsOn(
  slot: Hash,
  { token, data, value }: WantedAnswer,
  context: TokenContext,
): Promise<boolean> {
  const { chain, simulator } = context.backend;
  const expected = bigintToFixedBytes(value, SLOT_LENGTH);
  const storage = { replacesAll: false, slots: [{ slot, value: bigintToBytes(value) }] };
  const tried = await simulator.run(
    {
      kind: "call",
      call: { to: token, data },
      blockNumber: chain.head.header.number,
      overrides: { accounts: [{ address: token, storage }] },
    },
    context,
  );
  return tried.kind === "returned" && equalBytes(tried.data, expected);
}

function callOf(selector: Uint8Array, ...addresses: readonly Address[]): Uint8Array {
  const padding = new Uint8Array(12);
  return joinBytes([selector, ...addresses.flatMap((address) => [padding, address])]);
}

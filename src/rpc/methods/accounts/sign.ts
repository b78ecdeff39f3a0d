import type { Address } from "../../../primitives/address.ts";
import type { Hash } from "../../../primitives/hash.ts";
import { concatBytes, toHex } from "../../../primitives/hex.ts";
import { encodeSignature, sign } from "../../../primitives/secp256k1.ts";
import { invalidParams, RpcError } from "../../errors/errors.ts";
import { type Answer, type ContextOf, defineMethod, required } from "../../method.ts";
import { decodeAddress, decodeData } from "../../parameters/parameters.ts";
import { ADDRESS, DATA, GIVEN_DATA, OBJECT, TEXT } from "../../schemas.ts";
import { hashPersonalMessage } from "../../signing/personalMessage.ts";
import { hashTypedData, readTypedData, type TypedData, UnusableTypedData } from "../../signing/typedData.ts";
import { ACCOUNT_METHOD, privateKeyOf } from "./accountMethod.ts";

const SIGNER = required("address", decodeAddress, ADDRESS);
const MESSAGE = required("message", decodeData, GIVEN_DATA);
const TYPED_DATA = {
  ...required("typedData", (given: unknown) => typedDataOf(given).data, { anyOf: [OBJECT, TEXT] }),
  explain: (given: unknown) => typedDataOf(given).error,
};
const SIGNATURE = { name: "signature", schema: DATA };

export const devSign = defineMethod({
  ...ACCOUNT_METHOD,
  name: "eth_sign",
  summary: "Signs a message with an account's key, after the prefix that no transaction has (EIP-191).",
  parameters: [SIGNER, MESSAGE],
  result: SIGNATURE,
  ports: ["settings"],
  run: ([address, message], context) => signed(address, () => hashPersonalMessage(message), context),
});

export const devPersonalSign = defineMethod({
  ...ACCOUNT_METHOD,
  name: "personal_sign",
  summary: "Like eth_sign, with its parameters in the other order.",
  parameters: [MESSAGE, SIGNER],
  result: SIGNATURE,
  ports: ["settings"],
  run: ([message, address], context) => signed(address, () => hashPersonalMessage(message), context),
});

export const devSignTypedData = defineMethod({
  ...ACCOUNT_METHOD,
  name: "eth_signTypedData_v4",
  summary: "Signs typed data with an account's key (EIP-712).",
  parameters: [SIGNER, TYPED_DATA],
  result: SIGNATURE,
  ports: ["settings"],
  run: ([address, data], context) => signed(address, () => hashTypedData(data), context),
});

/** The typed data, or why it is none. */
function typedDataOf(given: unknown): { readonly data?: TypedData; readonly error?: RpcError } {
  try {
    return { data: readTypedData(given) };
  } catch (error) {
    return { error: refusalOf(error) };
  }
}

/** The signature of what `digestOf` gives, with v as 27 or 28. */
function signed(address: Address, digestOf: () => Hash, context: ContextOf<"settings">): Answer {
  const privateKey = privateKeyOf(address, context);
  if (privateKey instanceof RpcError) return privateKey;
  let digest: Hash;
  try {
    digest = digestOf();
  } catch (error) {
    return refusalOf(error);
  }
  const signature = sign(digest, privateKey);
  return toHex(
    concatBytes(encodeSignature(signature).subarray(0, 64), Uint8Array.of(27 + signature.yParity)),
  );
}

function refusalOf(error: unknown): RpcError {
  if (error instanceof UnusableTypedData) return invalidParams(error.message);
  throw error;
}

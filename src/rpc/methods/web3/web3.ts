import { keccak256 } from "../../../primitives/hash.ts";
import { toHex } from "../../../primitives/hex.ts";
import { defineMethod, required } from "../../method.ts";
import { decodeData, decodeText } from "../../parameters/parameters.ts";
import { GIVEN_DATA, HASH, TEXT } from "../../schemas.ts";

export const web3ClientVersion = defineMethod({
  name: "web3_clientVersion",
  namespace: "WEB3",
  summary: "Name and version of the node.",
  parameters: [],
  result: { name: "version", schema: TEXT },
  ports: ["settings"],
  run: (_, { backend }) => backend.settings.clientVersion,
});

export const web3Sha3 = defineMethod({
  name: "web3_sha3",
  namespace: "WEB3",
  summary: "Keccak-256 hash of the data, which differs from the standard SHA3-256.",
  parameters: [required("data", decodePrefixedData, GIVEN_DATA)],
  exactParams: 1,
  result: { name: "hash", schema: HASH },
  run: ([data]) => toHex(keccak256(data)),
});

/** The only method that requires the 0x prefix, except for an empty string. */
function decodePrefixedData(value: unknown): Uint8Array | undefined {
  const text = decodeText(value);
  return text === "" || text?.startsWith("0x") ? decodeData(text) : undefined;
}

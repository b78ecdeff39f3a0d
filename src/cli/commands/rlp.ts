import { choiceType, pathType } from "../../config/valueTypes.ts";
import { type Address, addressFromHex } from "../../primitives/address.ts";
import { messageOf } from "../../primitives/errorMessage.ts";
import { parseHex, toHex } from "../../primitives/hex.ts";
import { fail, ok, type Result } from "../../primitives/result.ts";
import { type ProcessIo, refuse } from "../processIo.ts";
import { type Command, defineCommand } from "./command.ts";
import { decodeValidators, EXTRA_DATA_TYPES, encodeGenesisExtraData } from "./genesisExtraData.ts";
import { readText, writeAnswer } from "./textFiles.ts";

const TYPE = {
  type: choiceType(EXTRA_DATA_TYPES),
  default: "IBFT_EXTRA_DATA",
  help: `Type of the RLP: ${EXTRA_DATA_TYPES.join(" or ")}.`,
} as const;

export const RLP_COMMANDS: readonly Command[] = [
  defineCommand({
    words: "rlp encode",
    help: "Encode a JSON list of validator addresses as the extra data of a genesis block.",
    options: {
      from: { type: pathType, help: "File with the JSON. Default: standard input." },
      to: { type: pathType, help: "File to write. Default: standard output." },
      type: TYPE,
    },
    run: async ({ values, io }) => {
      const text = readText(values.from, io);
      if (!text.ok) return refuse(text.error.message, io);
      const validators = readAddresses(text.value);
      if (!validators.ok) return refuse(validators.error.message, io);
      return writeAnswer(toHex(encodeGenesisExtraData(values.type, validators.value)), values.to, io);
    },
  }),
  defineCommand({
    words: "rlp decode",
    help: "List the validators in extra data.",
    options: {
      from: {
        type: pathType,
        help: "File with the extra data in hexadecimal digits. Default: standard input.",
      },
      to: { type: pathType, help: "File to write. Default: standard output." },
      type: TYPE,
    },
    run: async ({ values, io }) => decode(values, io),
  }),
];

interface DecodeValues {
  readonly from: string | undefined;
  readonly to: string | undefined;
  readonly type: (typeof EXTRA_DATA_TYPES)[number];
}

function decode({ from, to, type }: DecodeValues, io: ProcessIo): number {
  const text = readText(from, io);
  if (!text.ok) return refuse(text.error.message, io);
  // Besu reads no further than the first line either.
  const [firstLine = ""] = text.value.split("\n", 1);
  const bytes = parseHex(firstLine.trim());
  if (bytes === undefined || bytes.length === 0) {
    return refuse("Unable to decode the RLP data: hexadecimal digits are expected.", io);
  }
  const validators = decodeValidators(type, bytes);
  if (!validators.ok) {
    return refuse(`Unable to decode the RLP data as ${type}: ${validators.error.message}.`, io);
  }
  return writeAnswer(`[${validators.value.map(toHex).join(", ")}]`, to, io);
}

/** Errors have Besu's texts. */
function readAddresses(text: string): Result<readonly Address[], "badJson"> {
  if (text.trim() === "") return bad("An error occurred while trying to read the JSON data.");
  let json: unknown;
  try {
    json = JSON.parse(text);
  } catch (error) {
    const reason = messageOf(error);
    return bad(`Unable to load the JSON data. Please check JSON input format. ${reason}`);
  }
  const odd = Array.isArray(json) ? json.findIndex((item) => !isAddressText(item)) : undefined;
  if (Array.isArray(json) && odd === -1) return ok(json.map((item: string) => addressFromHex(item)));
  const what = odd === undefined ? "A list of addresses is expected" : `Item ${odd} is not an address`;
  return bad(`Unable to map the JSON data with selected type. Please check JSON input format. ${what}.`);
}

function isAddressText(item: unknown): boolean {
  return typeof item === "string" && parseHex(item)?.length === 20;
}

function bad(message: string): Result<never, "badJson"> {
  return fail("caller", "badJson", message);
}

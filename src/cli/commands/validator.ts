import { readSettings } from "../../config/readSettings.ts";
import { listType, switchType, textType } from "../../config/valueTypes.ts";
import { reportDiskErrors } from "../commandErrors.ts";
import { refuse } from "../processIo.ts";
import { validatorHeadType } from "../validatorHeads.ts";
import { type Command, defineCommand } from "./command.ts";

const URL_TYPE = textType({ label: "<URL>", accepts: "a URL of JSON-RPC over HTTP" });

export const VALIDATOR_COMMANDS: readonly Command[] = [
  defineCommand({
    words: "validator forget-votes",
    help:
      "Set aside the vote log of a stopped validator, so that it starts in round 0 again when its network is stuck in a late " +
      "round, or votes again when its votes are lost. Refused unless every other validator has the same newest block and " +
      "no block was prepared after it. First read docs/operating.md, When the chain stalls.",
    options: {
      "heads-from": {
        type: listType(URL_TYPE, "<URL,...>"),
        default: "",
        help: "JSON-RPC URLs of the other validators, to fetch their newest blocks from.",
      },
      heads: {
        type: listType(validatorHeadType, "<ADDRESS=NUMBER:HASH,...>"),
        default: "",
        help: "Newest blocks of other validators, as shown by 'database info'.",
      },
      force: {
        type: switchType,
        help: "Set it aside in spite of objections, at the risk of two different blocks at the same height.",
      },
    },
    nodeOptions: [
      "data-path",
      "genesis-file",
      "config-file",
      "node-private-key-file",
      "node-keystore-file",
      "node-keystore-password-file",
      "validator-signer-url",
      "validator-signer-public-key",
    ],
    async run({ values, raw, unknown, io }) {
      const settings = readSettings({ ...io, raw, unknown });
      if (!settings.ok) return refuse(settings.error.message, io);
      const { forgetVotes } = await import("../forgetVotes.ts");
      const { heads, "heads-from": urls, force } = values;
      return reportDiskErrors(io, () =>
        forgetVotes({ settings: settings.value, heads, urls, isForced: force === true }, io),
      );
    },
  }),
];

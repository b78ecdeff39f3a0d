import { readSettings } from "../../config/readSettings.ts";
import { listType, switchType, textType } from "../../config/valueTypes.ts";
import { inDiskTerms } from "../endings.ts";
import { refuse } from "../processIo.ts";
import { validatorHeadType } from "../validatorHeads.ts";
import { type Command, defineCommand } from "./command.ts";

const URL_TYPE = textType({ label: "<URL>", accepts: "a URL of JSON-RPC over HTTP" });

export const VALIDATOR_COMMANDS: readonly Command[] = [
  defineCommand({
    words: "validator forget-votes",
    help:
      "Let a stopped validator begin in round 0 again, when its network stands in a late round. Refused unless every " +
      "other validator has the same newest block and no block was prepared after it. The record of votes is kept as a copy. " +
      "First read docs/operating.md, When the chain stands.",
    options: {
      "heads-from": {
        type: listType(URL_TYPE, "<URL,...>"),
        default: "",
        help: "JSON-RPC of the other validators, which are asked for their newest block.",
      },
      heads: {
        type: listType(validatorHeadType, "<ADDRESS=NUMBER:HASH,...>"),
        default: "",
        help: "Newest blocks of other validators that are not asked, as 'database info' tells them.",
      },
      force: {
        type: switchType,
        help: "Forget whatever speaks against it. Two blocks of one height can then come about.",
      },
    },
    nodeOptions: ["data-path", "genesis-file", "config-file", "node-private-key-file"],
    async run({ values, given, foreign, io }) {
      const settings = readSettings({ ...io, given, foreign });
      if (!settings.ok) return refuse(settings.error.message, io);
      const { forgetVotes } = await import("../forgetVotes.ts");
      const { heads, "heads-from": urls, force } = values;
      return inDiskTerms(io, () =>
        forgetVotes({ settings: settings.value, heads, urls, isForced: force === true }, io),
      );
    },
  }),
];

import { ethstatsUrlType } from "../ethstatsUrl.ts";
import { pathType, textType } from "../valueTypes.ts";
import { option } from "./option.ts";

const group = "Metrics";
const requires = "ethstats";

export const ETHSTATS_OPTIONS = {
  ethstats: option({
    type: ethstatsUrlType,
    default: undefined,
    group,
    isSecret: true,
    help: "Ethstats server to report to, with the node's name there and the server's secret. Without ws:// or wss:// both are tried.",
  }),
  "ethstats-contact": option({
    type: textType({ label: "<CONTACT>", accepts: "text" }),
    default: undefined,
    group,
    requires,
    help: "Contact shown on the ethstats server.",
  }),
  "ethstats-cacert-file": option({
    type: pathType,
    default: undefined,
    group,
    requires,
    help: "Certificates (PEM) of the authority of the ethstats server, which are trusted instead of the system's.",
  }),
} as const;

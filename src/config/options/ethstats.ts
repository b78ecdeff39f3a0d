import { statsUrlType } from "../peerTypes.ts";
import { pathType, textType } from "../valueTypes.ts";
import { withoutEffect } from "./option.ts";

const noEffect = withoutEffect({
  group: "Metrics",
  noEffect: "reports to an ethstats server are not part of this version",
});

const needed = { requires: "ethstats" };

export const ETHSTATS_OPTIONS = {
  ethstats: noEffect.optional(statsUrlType, "Ethstats server to report to."),
  "ethstats-contact": noEffect.optional(
    textType({ label: "<CONTACT>", accepts: "text" }),
    "Contact shown on that server.",
    needed,
  ),
  "ethstats-cacert-file": noEffect.optional(
    pathType,
    "Certificate of the authority (CA) that signed that server's certificate.",
    needed,
  ),
} as const;

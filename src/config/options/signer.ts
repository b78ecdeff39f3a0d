import { bytesType, pathType, textType } from "../valueTypes.ts";
import { option } from "./option.ts";

const group = "Block production";

/** A validator whose key another process holds; none of these options is Besu's. */
export const SIGNER_OPTIONS = {
  "validator-signer-url": option({
    type: textType({ label: "<URL>", accepts: "a URL" }),
    default: undefined,
    group,
    help: "URL of the Web3Signer (eth1) that signs for this validator, such as http://127.0.0.1:9000; the node's own key then only identifies it to peers.",
  }),
  "validator-signer-public-key": option({
    type: bytesType({ maxBytes: 64 }),
    default: undefined,
    group,
    help: "Public key (64 bytes) of the validator that the remote signer signs for.",
  }),
  "validator-signer-ca-file": option({
    type: pathType,
    default: undefined,
    group,
    help: "Certificates (PEM) to trust when the remote signer's URL is https, instead of the system's.",
  }),
} as const;

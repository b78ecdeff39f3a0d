import { addressType, integerType, pathType, switchType } from "../valueTypes.ts";
import { option } from "./option.ts";

const group = "Permissioning";
const file = { defaultText: "permissions_config.toml in the data folder" };

/** Access control is never ignored: an enabled switch that is not supported prevents the start. */
export const PERMISSIONING_OPTIONS = {
  "permissions-nodes-config-file-enabled": option({
    type: switchType,
    default: false,
    group,
    help: "Connect only to peers on an allowlist.",
  }),
  "permissions-nodes-config-file": option({
    type: pathType,
    default: undefined,
    ...file,
    group,
    requires: "permissions-nodes-config-file-enabled",
    help: "TOML file with the allowlist, under nodes-allowlist.",
  }),
  "permissions-accounts-config-file-enabled": option({
    type: switchType,
    default: false,
    group,
    help: "Accept only transactions of senders on an allowlist.",
  }),
  "permissions-accounts-config-file": option({
    type: pathType,
    default: undefined,
    ...file,
    group,
    requires: "permissions-accounts-config-file-enabled",
    help: "TOML file with the allowlist, under accounts-allowlist.",
  }),
  "permissions-nodes-contract-enabled": option({
    type: switchType,
    default: false,
    group,
    help: "Ask a contract which peers are allowed.",
  }),
  "permissions-nodes-contract-address": option({
    type: addressType,
    default: undefined,
    group,
    requires: "permissions-nodes-contract-enabled",
    help: "Address of that contract.",
  }),
  "permissions-nodes-contract-version": option({
    type: integerType({ label: "<NUMBER>", min: 1n, max: 2n }),
    default: 1,
    group,
    requires: "permissions-nodes-contract-enabled",
    help: "Version of its interface.",
  }),
  "permissions-accounts-contract-enabled": option({
    type: switchType,
    default: false,
    group,
    help: "Ask a contract which transactions are allowed, also in blocks of other validators.",
  }),
  "permissions-accounts-contract-address": option({
    type: addressType,
    default: undefined,
    group,
    requires: "permissions-accounts-contract-enabled",
    help: "Address of that contract.",
  }),
} as const;

import { addressType, integerType, pathType, switchType } from "../valueTypes.ts";
import { option, withoutEffect } from "./option.ts";

const group = "Permissioning";
const securitySwitch = { type: switchType, default: false, group, isHidden: true } as const;
const file = { defaultText: "permissions_config.toml in the data folder" };
const unsupported = { group, noEffect: "contracts are not asked for permissions" } as const;
const nodeContract = withoutEffect({ ...unsupported, requires: "permissions-nodes-contract-enabled" });

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
    ...securitySwitch,
    refusedWhenOn: "a contract cannot be asked which peers are allowed",
    help: "Ask a contract which peers are allowed.",
  }),
  "permissions-nodes-contract-address": nodeContract.optional(addressType, "Address of that contract."),
  "permissions-nodes-contract-version": nodeContract.valued(
    integerType({ label: "<NUMBER>", min: 1n, max: 2n }),
    1,
    "Version of its interface.",
  ),
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

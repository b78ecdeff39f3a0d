import { addressType, integerType, pathType, switchType } from "../valueTypes.ts";
import { option, withoutEffect } from "./option.ts";

const group = "Permissioning";
const guard = { type: switchType, default: false, group, isHidden: true } as const;
const file = { defaultText: "permissions_config.toml in the data folder" };
const later = { group, noEffect: "contracts are not asked for permissions" } as const;
const nodeContract = withoutEffect({ ...later, requires: "permissions-nodes-contract-enabled" });
const accountContract = withoutEffect({ ...later, requires: "permissions-accounts-contract-enabled" });

/** Access control is never ignored: what this version cannot do stops the start. */
export const PERMISSIONING_OPTIONS = {
  "permissions-nodes-config-file-enabled": option({
    type: switchType,
    default: false,
    group,
    help: "Connect with peers of a list only.",
  }),
  "permissions-nodes-config-file": option({
    type: pathType,
    default: undefined,
    ...file,
    group,
    requires: "permissions-nodes-config-file-enabled",
    help: "TOML file of that list: nodes-allowlist.",
  }),
  "permissions-accounts-config-file-enabled": option({
    type: switchType,
    default: false,
    group,
    help: "Take transactions of the senders of a list only.",
  }),
  "permissions-accounts-config-file": option({
    type: pathType,
    default: undefined,
    ...file,
    group,
    requires: "permissions-accounts-config-file-enabled",
    help: "TOML file of that list: accounts-allowlist.",
  }),
  "permissions-nodes-contract-enabled": option({
    ...guard,
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
    ...guard,
    refusedWhenOn: "a contract cannot be asked which senders are allowed",
    help: "Ask a contract which senders are allowed.",
  }),
  "permissions-accounts-contract-address": accountContract.optional(addressType, "Address of that contract."),
} as const;

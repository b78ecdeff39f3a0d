import { addressType, integerType, pathType, switchType } from "../valueTypes.ts";
import { option, withoutEffect } from "./option.ts";

const group = "Permissioning";
const guard = { type: switchType, default: false, group, isHidden: true } as const;
const file = { defaultText: "permissions_config.toml in the data folder" };
const later = { group, noEffect: "permissions are not part of this version" } as const;
const nodes = withoutEffect({ ...later, requires: "permissions-nodes-config-file-enabled" });
const accounts = withoutEffect({ ...later, requires: "permissions-accounts-config-file-enabled" });
const nodeContract = withoutEffect({ ...later, requires: "permissions-nodes-contract-enabled" });
const accountContract = withoutEffect({ ...later, requires: "permissions-accounts-contract-enabled" });

/** Access control is never ignored: what this version cannot do stops the start. */
export const PERMISSIONING_OPTIONS = {
  "permissions-nodes-config-file-enabled": option({
    ...guard,
    refusedWhenOn: "peers cannot be limited to a list in this version",
    help: "Connect with peers of a list only.",
  }),
  "permissions-nodes-config-file": nodes.optional(pathType, "TOML file of that list: nodes-allowlist.", file),
  "permissions-accounts-config-file-enabled": option({
    ...guard,
    refusedWhenOn: "senders cannot be limited to a list in this version",
    help: "Accept transactions of the senders of a list only.",
  }),
  "permissions-accounts-config-file": accounts.optional(
    pathType,
    "TOML file of that list: accounts-allowlist.",
    file,
  ),
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

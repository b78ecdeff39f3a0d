import type { PROFILE_NAMES } from "./options/general.ts";
import type { OptionName } from "./options.ts";
import type { RawOption } from "./rawOption.ts";

type ProfileName = (typeof PROFILE_NAMES)[number];

const ENTERPRISE: Profile = {
  "sync-mode": "FULL",
  "data-storage-format": "FOREST",
  "sync-min-peers": "1",
  "remote-connections-limit-enabled": "false",
  "tx-pool": "SEQUENCED",
  "tx-pool-no-local-priority": "true",
  "tx-pool-limit-by-account-percentage": "0.15",
  "rpc-http-max-active-connections": "300",
  "min-gas-price": "0",
  "bonsai-limit-trie-logs-enabled": "false",
};

const PROFILES: Readonly<Record<ProfileName, Profile>> = {
  ENTERPRISE,
  PRIVATE: ENTERPRISE,
  MINIMALIST_STAKER: { "sync-mode": "CHECKPOINT", "data-storage-format": "BONSAI", "max-peers": "25" },
  STAKER: { network: "MAINNET" },
  DEV: { network: "DEV" },
  NONE: {},
};

type Profile = Readonly<Partial<Record<OptionName, string>>>;

/** The options that a profile sets, with lower precedence than everything the operator gave. */
export function givenByProfile(profile: ProfileName): readonly RawOption[] {
  return Object.entries(PROFILES[profile]).map(([name, text]) => ({
    name: name as OptionName,
    text,
    source: { kind: "profile", profile },
  }));
}

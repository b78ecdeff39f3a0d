import { pathType, secondsType, switchType, weiType } from "../valueTypes.ts";
import { option } from "./option.ts";

const ETHER = 10n ** 18n;
const given = { group: "Explorer", requires: "faucet-enabled" } as const;

export const FAUCET_OPTIONS = {
  "faucet-enabled": option({
    group: "Explorer",
    requires: "explorer-enabled",
    type: switchType,
    default: false,
    help: "Give this network's coin to who asks on the explorer's port.",
  }),
  "faucet-key-file": option({
    ...given,
    type: pathType,
    default: undefined,
    help: "File with the private key of the account that gives: 64 hexadecimal digits.",
  }),
  "faucet-amount": option({ ...given, type: weiType, default: ETHER, help: "Wei of one gift." }),
  "faucet-address-cooldown-seconds": option({
    ...given,
    type: secondsType,
    default: 86_400,
    help: "Time between two gifts to one address.",
  }),
  "faucet-host-cooldown-seconds": option({
    ...given,
    type: secondsType,
    default: 3_600,
    help: "Time between two gifts to one remote host, which behind a proxy of --explorer-proxy-addresses is named by X-Forwarded-For.",
  }),
  "faucet-daily-limit": option({
    ...given,
    type: weiType,
    default: 100n * ETHER,
    help: "Wei that are given within 24 hours at most.",
  }),
  "faucet-on-main-network": option({
    ...given,
    type: switchType,
    default: false,
    help: "Let the faucet give on network 7171, whose coin has a value.",
  }),
} as const;

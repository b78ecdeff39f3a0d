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
    help: "Give away this network's coin on request, on the explorer's port.",
  }),
  "faucet-key-file": option({
    ...given,
    type: pathType,
    default: undefined,
    help: "File with the private key of the account that pays: 64 hexadecimal digits.",
  }),
  "faucet-amount": option({
    ...given,
    type: weiType,
    default: ETHER,
    help: "Amount of one payment, in wei.",
  }),
  "faucet-address-cooldown-seconds": option({
    ...given,
    type: secondsType,
    default: 86_400,
    help: "Minimum time between two payments to the same address.",
  }),
  "faucet-host-cooldown-seconds": option({
    ...given,
    type: secondsType,
    default: 3_600,
    help: "Minimum time between two payments to the same remote host, which X-Forwarded-For names behind a proxy of --explorer-proxy-addresses.",
  }),
  "faucet-daily-limit": option({
    ...given,
    type: weiType,
    default: 100n * ETHER,
    help: "Maximum amount paid within 24 hours, in wei.",
  }),
  "faucet-on-main-network": option({
    ...given,
    type: switchType,
    default: false,
    help: "Allow the faucet on network 7171, whose coin has value.",
  }),
} as const;

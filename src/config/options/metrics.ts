import { hostType, portType, switchType, textListType } from "../valueTypes.ts";
import { option } from "./option.ts";

/** Read and checked, so that configurations carry over; what they ask for does not exist yet. */
const common = {
  group: "General",
  noEffect: "metrics are not part of this version",
  isHidden: true,
} as const;
const ALL_CATEGORIES: readonly string[] = [];

export const METRICS_OPTIONS = {
  "metrics-enabled": option({
    ...common,
    type: switchType,
    default: false,
    isMetBy: false,
    help: "Offer metrics to Prometheus.",
  }),
  "metrics-host": option({ ...common, type: hostType, default: "127.0.0.1", help: "Address to listen on." }),
  "metrics-port": option({ ...common, type: portType, default: 9545, help: "Port to listen on." }),
  "metrics-category": option({
    ...common,
    type: textListType,
    default: ALL_CATEGORIES,
    defaultText: "all",
    aliases: ["metrics-categories"],
    help: "Groups of metrics to offer.",
  }),
} as const;

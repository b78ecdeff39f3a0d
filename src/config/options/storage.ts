import { choiceType, integerType, switchType } from "../valueTypes.ts";
import { option } from "./option.ts";

export const STORAGE_OPTIONS = {
  "sync-mode": option({
    type: choiceType(["FULL", "FAST", "SNAP", "CHECKPOINT", "X_SNAP", "X_CHECKPOINT"]),
    default: "FULL",
    group: "Synchronization and storage",
    help: "FULL: every block is executed. FAST is taken for FULL; the others are refused.",
  }),
  "data-storage-format": option({
    type: choiceType(["FOREST", "BONSAI"]),
    default: "FOREST",
    group: "Synchronization and storage",
    help: "FOREST: every state stays readable. BONSAI is taken for FOREST.",
  }),
  "sync-min-peers": option({
    type: integerType({ label: "<COUNT>", unit: "peers", min: 0n }),
    default: undefined,
    group: "Synchronization and storage",
    aliases: ["fast-sync-min-peers"],
    isHidden: true,
    noEffect: "it is ignored in FULL sync-mode",
    help: "Peers to wait for before a fast synchronization.",
  }),
  "revert-reason-enabled": option({
    type: switchType,
    default: false,
    group: "Synchronization and storage",
    help: "Keep the revert data of failed transactions and show it in receipts.",
  }),
} as const;

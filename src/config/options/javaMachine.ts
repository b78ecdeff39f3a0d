import { choiceType, longType, pathType, switchType, textListType, textType } from "../valueTypes.ts";
import { option, withoutEffect } from "./option.ts";

const group = "Java virtual machine";
const NO_NAMES: readonly string[] = [];
const noEffect = withoutEffect({ group, noEffect: "this node is not a Java program" });
const nameType = textType({ label: "<NAME>", accepts: "a name" });

/** Options of Besu's Java program and its plugins. */
export const JAVA_OPTIONS = {
  "security-module": option({
    type: choiceType(["localfile"]),
    default: "localfile",
    group,
    isHidden: true,
    help: "Where the node's key is kept: in a file, as named by --node-private-key-file or --node-keystore-file.",
  }),
  "key-value-storage": withoutEffect({
    group,
    noEffect: "there is only one type of database, in the data folder",
  }).valued(nameType, "rocksdb", "Type of database."),
  plugins: noEffect.valued(textListType, NO_NAMES, "Plugins to load.", { defaultText: "none" }),
  "kzg-trusted-setup": withoutEffect({
    group,
    noEffect: "the trusted setup of Ethereum's main network is built in",
  }).optional(pathType, "Trusted setup of KZG commitments."),
  "Xsecp-native-enabled": noEffect.valued(switchType, true, "Native signatures.", {
    aliases: ["Xsecp256k1-native-enabled"],
  }),
  "Xaltbn128-native-enabled": noEffect.valued(switchType, true, "Native alt_bn128."),
  "Xblake2bf-native-enabled": noEffect.valued(switchType, true, "Native BLAKE2b F."),
  "Xmodexp-native-enabled": noEffect.valued(switchType, true, "Native modular exponentiation."),
  "Xevm-jumpdest-cache-weight-kb": noEffect.valued(
    longType,
    32_000n,
    "Memory for the jump destinations of analysed code, in kilobytes.",
  ),
  "Xevm-worldstate-update-mode": noEffect.valued(
    choiceType(["STACKED", "JOURNALED"]),
    "STACKED",
    "How the state writes of nested calls are stored.",
  ),
} as const;

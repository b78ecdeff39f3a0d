import { DamagedData, DiskError, FolderInUse, OtherSchema, UnfinishedImport } from "../storage/database.ts";
import type { IdentityErrorCode } from "./keys/identity.ts";

/** Why a node does not start. */
export type StartErrorCode =
  | "unusableDataPath"
  | IdentityErrorCode
  | "unusableSigner"
  | "unusablePermissions"
  | "developmentFolder"
  | "folderInUse"
  | "unfinishedImport"
  | "otherSchema"
  | "unusableDatabase"
  | "differentGenesis"
  | "addressInUse"
  | "cannotListen";

/** What was thrown because of the database, as a reason not to start; undefined for a defect of the program. */
export function startErrorCodeOf(error: unknown): StartErrorCode | undefined {
  if (error instanceof FolderInUse) return "folderInUse";
  if (error instanceof OtherSchema) return "otherSchema";
  if (error instanceof UnfinishedImport) return "unfinishedImport";
  return error instanceof DiskError || error instanceof DamagedData ? "unusableDatabase" : undefined;
}

import envPaths from "env-paths";

/** Where converted and downloaded models and data are kept: PALATE_CACHE, or the user's cache folder. */
export function cacheFolder(): string {
  return process.env["PALATE_CACHE"] ?? envPaths("palate", { suffix: "" }).cache;
}

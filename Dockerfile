# One image for the API, the worker, the listener and the migrations: the command says which (docker-compose.yml).
#   node dist/api/index.js | node dist/worker/index.js | node dist/listener/index.js | node dist/migrations/run.js

FROM node:24-slim AS build
WORKDIR /app
COPY package.json package-lock.json .npmrc ./
# The dashboard is built of packages of its own and of the typed client.
COPY clients/dashboard/package.json clients/dashboard/
COPY clients/typescript/package.json clients/typescript/
# No install script is needed here: TypeScript only compiles, and the native parts come prebuilt.
RUN npm ci --ignore-scripts --no-audit --no-fund
COPY . .
RUN npm run build

FROM node:24-slim AS dependencies
WORKDIR /app
# Without the clients: what the dashboard is made of stays in the stage that builds it.
COPY package.json package-lock.json .npmrc ./
RUN npm ci --omit=dev --ignore-scripts --no-audit --no-fund
# What was installed, as CycloneDX. npm describes no project of which something is missing, so the rest is taken out.
RUN npm pkg delete devDependencies workspaces && npm sbom --sbom-format=cyclonedx --sbom-type=application >sbom.cdx.json
# A volume begins with the owner of the folder that it covers.
RUN mkdir -p /var/lib/gpu-rental

FROM node:24-slim
ENV NODE_ENV=production
WORKDIR /app
COPY --from=dependencies /app/node_modules ./node_modules
COPY --from=build /app/dist ./dist
COPY --from=dependencies /app/sbom.cdx.json ./
COPY package.json LICENSE ./
COPY --from=dependencies --chown=1000:1000 /var/lib/gpu-rental /var/lib/gpu-rental
# The user "node" of the base image, by number: what starts the image can see that it is not root.
USER 1000:1000
# Inside a container loopback reaches nobody.
ENV API_HOST=0.0.0.0 API_PORT=8080
EXPOSE 8080
CMD ["node", "dist/api/index.js"]

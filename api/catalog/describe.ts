import { regionField, fields, joi, pageFields } from '../http/fields.js';
import { families } from '../../domain/catalog/families.js';
import { catalogLimits } from '../../domain/catalog/limits.js';
import { templates } from '../../domain/catalog/templates.js';
import {
  bool,
  cents,
  count,
  exampleId,
  idOf,
  instant,
  listOf,
  named,
  object,
  oneOf,
  orNull,
  text,
  type ValueOf,
  type JsonSchema,
} from '../http/openapi/json-schema.js';
import {
  leadsTo,
  pageOf,
  operation,
  type DescribedAnswer,
  type Operation,
} from '../http/openapi/operation.js';

export const listingQuery = fields({
  familyId: joi.text().maxChars(64),
  model: joi.text().maxChars(64),
  minVramGb: joi.number().min(0).max(1_000_000),
  minVcpus: joi.number().min(0).max(1_000_000),
  minMemoryGb: joi.number().min(0).max(1_000_000),
  minDiskGb: joi.number().min(0).max(1_000_000),
  gpuCount: joi.number().valid(...catalogLimits.gpuCounts),
  region: regionField,
  maxPricePerHourCents: joi.number().min(0).max(1_000_000_000),
  ...pageFields,
});

export const historyQuery = fields({ region: regionField });

const tag = 'Catalog';

const familyId = named('FamilyId', oneOf(families.map(({ id }) => id)));

const share: JsonSchema<number> = { type: 'number', minimum: 0, maximum: 1 };

/** How long something takes, in whole seconds. */
export const spread = named(
  'Spread',
  object({
    p50: { ...count, description: 'Half took this long or less.' },
    p90: { ...count, description: 'Nine of ten took this long or less.' },
  }),
);

const notTold = 'Null when the provider does not say.';

/** A machine on offer. */
export const listing = named(
  'Listing',
  object({
    id: idOf('lst'),
    model: { ...text, description: 'Canonical model code.' },
    family: familyId,
    vramGb: count,
    gpuCount: oneOf(catalogLimits.gpuCounts),
    pricePerHourCents: cents('Of the whole machine.'),
    providerCode: text,
    region: { ...text, description: 'For people.' },
    regionCode: { ...text, description: 'Country or broad region.' },
    interconnect: text,
    vcpus: orNull(count, notTold),
    memoryGb: orNull({ ...count, description: 'Of the machine, beside its GPUs.' }, notTold),
    diskGb: orNull(count, notTold),
    networkMbps: orNull({ ...count, description: 'How fast it downloads.' }, notTold),
    cudaVersion: orNull({ ...text, description: 'The newest that its driver runs.' }, notTold),
    driverVersion: orNull(text, notTold),
    availableUntil: orNull(
      { ...instant, description: 'The machine is taken back then. Your rental ends ten minutes before.' },
      'Null when it has no end.',
    ),
    reliability: orNull(
      named(
        'Reliability',
        object({
          createSuccess: {
            ...share,
            description: 'The share of the machines ordered that started.',
          },
          timeToSshSeconds: orNull(spread, 'Null below 20 machines that started.'),
          lossesPer1000Hours: orNull(
            {
              type: 'number',
              minimum: 0,
              description: 'Machines that were lost, per 1,000 hours of running.',
            },
            'Null below 20 hours of running.',
          ),
          samples: { ...count, description: 'How many machines were ordered.' },
          days: count,
        }),
      ),
      'Measured from our own rentals of the last 30 days, by provider and family. Null below 20 samples.',
    ),
    recentStarts: orNull(
      named(
        'RecentStarts',
        object({
          succeeded: { ...count, description: 'How many of them started.' },
          asked: { ...count, description: 'How many machines of this offer were ordered.' },
        }),
      ),
      'Of the last 24 hours. An offer whose starts fail is rented after others that cost little more. Null when none was ordered.',
    ),
  }),
);

const family = named(
  'Family',
  object({
    family: familyId,
    models: listOf(text),
    fromPricePerHourCents: orNull(cents('Of the cheapest live listing.'), 'Null when there is none.'),
    liveCount: count,
  }),
);

const point = named(
  'FamilyHour',
  object({
    at: { ...instant, description: 'The beginning of the hour.' },
    lowestPricePerHourCents: orNull(
      cents('Of the cheapest machine in the hour.'),
      'Null when there were no offers.',
    ),
    available: { ...count, description: 'How many offers there were when last checked in the hour.' },
  }),
);

const template = named(
  'Template',
  object({
    id: oneOf(templates.map(({ id }) => id)),
    name: text,
    description: text,
    isDefault: bool,
  }),
);

export const exampleListing: ValueOf<typeof listing> = {
  id: exampleId('lst'),
  model: 'RTX_4090',
  family: 'rtx-4090',
  vramGb: 24,
  gpuCount: 1,
  pricePerHourCents: 50,
  providerCode: 'acme',
  region: 'Oslo, Norway',
  regionCode: 'NO',
  interconnect: 'pcie',
  vcpus: 16,
  memoryGb: 64,
  diskGb: 256,
  networkMbps: 1_000,
  cudaVersion: '12.8',
  driverVersion: null,
  availableUntil: null,
  reliability: {
    createSuccess: 0.981,
    timeToSshSeconds: { p50: 41, p90: 95 },
    lossesPer1000Hours: 0.4,
    samples: 320,
    days: 30,
  },
  recentStarts: { succeeded: 3, asked: 4 },
};

const unchanged: DescribedAnswer<never> = {
  status: 304,
  description: 'What you sent as If-None-Match still holds.',
  headers: { ETag: text },
};

const forStrangers =
  'If the service publishes its prices (PUBLIC_PRICES), no sign-in is needed, and the answer is up to a minute old and has an ETag.';

/** The cheapest listing, as a rental or a quote is asked for. */
const wish = { familyId: '/listings/0/family', gpuCount: '/listings/0/gpuCount' };

export const listListings = operation({
  method: 'get',
  path: '/v1/catalog/listings',
  scope: 'read',
  name: 'listListings',
  tag,
  summary: 'Machines you can rent now, cheapest first',
  description:
    'Send the ETag as If-None-Match to get 304 when nothing has changed. It counts as a request like any other.',
  query: listingQuery,
  answers: [
    {
      ...pageOf('listings', listing, exampleListing, 'A page of live listings.'),
      links: { createRental: { body: wish }, createQuote: { body: wish } },
      headers: { ETag: text },
    },
    unchanged,
  ],
  refusals: ['invalid_count'],
});

export const listFamilies = operation({
  method: 'get',
  path: '/v1/catalog/families',
  scope: 'read',
  tellsPrices: true,
  name: 'listFamilies',
  tag,
  summary: 'Every GPU family, with its cheapest price now',
  description: forStrangers,
  answers: [
    {
      headers: { ETag: text },
      description: 'All families, offered or not.',
      schema: object({ families: listOf(family) }),
      examples: [
        {
          families: [
            { family: 'rtx-4090', models: ['RTX_4090'], fromPricePerHourCents: 50, liveCount: 12 },
            { family: 'b200', models: ['B200'], fromPricePerHourCents: null, liveCount: 0 },
          ],
        },
      ],
      links: leadsTo('/families/0/family', ['showFamilyHistory']),
    },
    unchanged,
  ],
});

export const showFamilyHistory = operation({
  method: 'get',
  path: '/v1/catalog/families/:id/history',
  scope: 'read',
  tellsPrices: true,
  name: 'showFamilyHistory',
  tag,
  summary: `Hourly prices of a GPU family over the last ${catalogLimits.historyDays} days`,
  description: `${forStrangers} Callers who have not signed in can’t filter by region.`,
  parameters: [
    {
      name: 'id',
      in: 'path',
      description: 'The id of a family.',
      schema: { type: 'string' },
      example: 'rtx-4090',
    },
  ],
  query: historyQuery,
  answers: [
    {
      headers: { ETag: text },
      description:
        'The hours in UTC, oldest first, including the current one. An hour without a price had no offers; a missing hour was not recorded.',
      schema: named('FamilyHistory', object({ familyId, points: listOf(point) })),
      examples: [
        {
          familyId: 'rtx-4090',
          points: [
            { at: '2026-11-01T08:00:00.000Z', lowestPricePerHourCents: 48, available: 12 },
            { at: '2026-11-01T09:00:00.000Z', lowestPricePerHourCents: null, available: 0 },
          ],
        },
      ],
    },
    unchanged,
  ],
  refusals: ['not_found'],
});

export const listTemplates = operation({
  method: 'get',
  path: '/v1/catalog/templates',
  scope: 'read',
  name: 'listTemplates',
  tag,
  summary: 'Software templates',
  answers: [
    {
      description: 'All templates.',
      schema: object({ templates: listOf(template) }),
      examples: [{ templates: templates.slice(0, 1).map((each) => ({ ...each, isDefault: true })) }],
    },
  ],
});

export const catalogOperations: readonly Operation[] = [
  listListings,
  listFamilies,
  showFamilyHistory,
  listTemplates,
];
